"""Fusion rules: the graph that a rule sees, and the rules in force."""

from __future__ import annotations

import atexit
import inspect
import threading
import warnings
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from types import TracebackType
from typing import Any, TypeAlias

from . import _core
from ._dtypes import dtype_named
from ._types import DType

GraphDict: TypeAlias = dict[str, Any]

# Functions that record work but have no row of their own in the core's tables.
_MOVES = {"astype", "concat", "random", "repeat", "roll", "setitem", "stack", "tile"}
KNOWN_OPERATIONS = frozenset(_core.operation_names()) | _MOVES
# What other libraries call them.
_ELSEWHERE = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "cast": "astype",
    "concatenate": "concat",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "div": "divide",
    "dot": "matmul",
    "gemm": "matmul",
    "mm": "matmul",
    "mod": "remainder",
    "mul": "multiply",
    "neg": "negative",
    "power": "pow",
    "sub": "subtract",
    "true_divide": "divide",
}


class FusionRuleWarning(RuntimeWarning):
    """A fusion rule failed, or asked for what cannot be done, and was ignored there."""


def check_operation(op: object, present: Iterable[str] = ()) -> str:
    """Return the name of an operation; raise ValueError that names the nearest one."""
    if not isinstance(op, str):
        raise TypeError(f"find: op must be the name of an operation, got {type(op).__name__}")
    if op in KNOWN_OPERATIONS or op in present:
        return op
    near = _ELSEWHERE.get(op) or next(iter(get_close_matches(op, KNOWN_OPERATIONS, 1, 0.0)), None)
    raise ValueError(f"find: unknown operation {op!r}; did you mean {near!r}?")


class Node:
    """A recorded operation, as a fusion rule sees it.

    Attributes
    ----------
    op : str
        The function that recorded it, such as "matmul" or "exp".
    dtype : dtype
        Of its result.
    shape : tuple of int
        Of its result. A rule that reads a shape is asked again for graphs in which it differs.
    producers : tuple of Node
        The operations whose results it reads.
    consumers : tuple of Node
        The operations that read its result.
    """

    __slots__ = ("_facts", "_graph", "_index")

    def __init__(self, graph: PendingGraph, index: int, facts: GraphDict) -> None:
        self._graph, self._index, self._facts = graph, index, facts

    @property
    def op(self) -> str:
        """The function that recorded it."""
        return str(self._facts["op"])

    @property
    def dtype(self) -> DType:
        """The dtype of its result."""
        dtype = dtype_named(self._facts["dtype"])
        assert dtype is not None, "an array of this dtype exists"
        return dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its result."""
        self._graph._shapes_read.add(self._index)
        return tuple(self._facts["shape"])

    @property
    def producers(self) -> tuple[Node, ...]:
        """The operations whose results it reads, in the order of its arguments."""
        numbers = dict.fromkeys(x["node"] for x in self._facts["inputs"] if x["node"] >= 0)
        return tuple(self._graph._nodes[n] for n in numbers if n in self._graph._nodes)

    @property
    def consumers(self) -> tuple[Node, ...]:
        """The operations that read its result, in the order of the program."""
        return tuple(
            node
            for node in self._graph.nodes
            if any(x["node"] == self._index for x in node._facts["inputs"])
        )

    def find_consumer(self, op: str, /) -> Node | None:
        """Return the first operation with this name that reads the result.

        Parameters
        ----------
        op : str
            The name.

        Returns
        -------
        Node or None
            None if there is none.

        Raises
        ------
        ValueError
            If there is no such operation in the library; it names the nearest.
        """
        check_operation(op, self._graph._operations)
        return next((node for node in self.consumers if node.op == op), None)

    def __repr__(self) -> str:
        return f"<%{self._index} {self.op} {self.dtype} {self.shape}>"


class PendingGraph:
    """Recorded operations that are about to run, as a fusion rule sees them.

    Results that nobody needs are not there. The graph belongs to one call of the rule.
    """

    def __init__(self, graph: GraphDict) -> None:
        self._nodes = {
            i: Node(self, i, facts)
            for i, facts in enumerate(graph["nodes"])
            if not facts["dropped"]
        }
        self._operations = {node.op for node in self._nodes.values()}
        self._shapes_read: set[int] = set()
        # Of all rules: nodes and names; and those of the rule that runs.
        self._fusions: list[tuple[list[int], str, str]] = []
        self._kept: set[int] = set()
        self._asked: list[tuple[list[int], str]] = []
        self._asked_to_keep: set[int] = set()
        self._open = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All operations, in the order of the program."""
        return tuple(self._nodes.values())

    def find(self, op: str, /) -> Node | None:
        """Return the first operation with this name.

        Parameters
        ----------
        op : str
            The name, such as "matmul".

        Returns
        -------
        Node or None
            None if there is none.

        Raises
        ------
        ValueError
            If there is no such operation in the library; it names the nearest.
        """
        return next(iter(self.find_all(op)), None)

    def find_all(self, op: str, /) -> tuple[Node, ...]:
        """Return all operations with this name, in the order of the program.

        Parameters
        ----------
        op : str
            The name, such as "matmul".

        Returns
        -------
        tuple of Node
            Perhaps empty.

        Raises
        ------
        ValueError
            If there is no such operation in the library; it names the nearest.
        """
        check_operation(op, self._operations)
        return tuple(node for node in self.nodes if node.op == op)

    def fuse(self, *nodes: Node, name: str | None = None) -> None:
        """Ask for operations to run together, even where that may be slower than apart.

        Built-in fusion goes on from there: it may add operations to the group.

        Parameters
        ----------
        *nodes : Node
            Two or more operations of this graph.
        name : str, optional
            The group's name in the profiler and in dumps. By default the operations joined by "+".

        Raises
        ------
        TypeError
            If an argument is not a node, or the name not a string of printable characters.
        ValueError
            If there are fewer than two nodes, or one belongs to another graph, is there twice, or
            was fused or kept already.
        """
        numbers = self._numbers("fuse", nodes)
        if len(numbers) < 2:
            raise ValueError("fuse: two or more operations are needed")
        if name is not None and not (isinstance(name, str) and name and name.isprintable()):
            raise TypeError(f"fuse: name must be a string of printable characters, got {name!r}")
        self._asked.append(
            (sorted(numbers), name or "+".join(self._nodes[n].op for n in sorted(numbers)))
        )

    def keep(self, *nodes: Node) -> None:
        """Forbid fusion: each of these operations runs on its own.

        Parameters
        ----------
        *nodes : Node
            Operations of this graph.

        Raises
        ------
        TypeError
            If an argument is not a node.
        ValueError
            If one belongs to another graph, is there twice, or was fused already.
        """
        self._asked_to_keep.update(self._numbers("keep", nodes, keeping=True))

    def _numbers(self, function: str, nodes: tuple[Node, ...], keeping: bool = False) -> list[int]:
        if not self._open:
            raise RuntimeError(f"{function}: the graph of a rule can be used inside of it only")
        fused = {n for numbers, *_ in (*self._fusions, *self._asked) for n in numbers}
        kept = set() if keeping else self._kept | self._asked_to_keep
        numbers: list[int] = []
        for node in nodes:
            if not isinstance(node, Node):
                raise TypeError(f"{function}: operations are nodes, got {type(node).__name__}")
            if node._graph is not self:
                raise ValueError(f"{function}: {node.op} belongs to another graph")
            if node._index in numbers:
                raise ValueError(f"{function}: {node.op} is there twice")
            if node._index in fused:
                raise ValueError(f"{function}: {node.op} is part of another fusion already")
            if node._index in kept:
                raise ValueError(f"{function}: {node.op} is kept as it is already")
            numbers.append(node._index)
        return numbers

    def _apply(self, rule: FusionRule) -> None:
        """Ask one rule; what it wants counts if it comes to its end."""
        self._asked, self._asked_to_keep, self._open = [], set(), True
        try:
            rule.function(self)
        finally:
            self._open = False
        self._fusions += [(numbers, name, rule.name) for numbers, name in self._asked]
        self._kept |= self._asked_to_keep


def _runs_nothing(function: Callable[..., object]) -> bool:
    """Whether a call only makes a generator or a coroutine."""
    kinds = inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction
    return any(is_kind(function) for is_kind in kinds)


class FusionRule:
    """A rule in force; made by `fusion_rule`.

    As a context manager it holds to the end of the block, where what was recorded inside runs.

    Attributes
    ----------
    name : str
        The name of its function.
    function : callable
        What it does with a `PendingGraph`.
    """

    def __init__(self, function: Callable[[PendingGraph], object]) -> None:
        if not callable(function):
            raise TypeError(f"fusion_rule: a function is needed, got {type(function).__name__}")
        name = str(getattr(function, "__name__", type(function).__name__))
        if _runs_nothing(function) or _runs_nothing(type(function).__call__):
            raise TypeError(
                f"fusion_rule: calling {name} would run nothing of it: it has a yield "
                "or is async; accepted: a function that runs when it is called"
            )
        self.function = function
        self.name = name

    def __call__(self, graph: PendingGraph, /) -> object:
        """Call the function."""
        return self.function(graph)

    def __enter__(self) -> FusionRule:
        add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                _core.finish_all()
        finally:
            discard(self)

    def __repr__(self) -> str:
        return f"<fusion rule {self.name}, {'in force' if self in _rules else 'removed'}>"


# ---- the rules in force

_lock = threading.Lock()
_rules: tuple[FusionRule, ...] = ()
_dumping = False
_reported: set[tuple[str, str]] = set()


def _activate() -> None:
    _core.activate_graph_hooks(bool(_rules), _dumping)


def add(rule: FusionRule) -> None:
    """Put a rule behind the others, unless it is there."""
    global _rules
    with _lock:
        if rule not in _rules:
            _rules += (rule,)
            _reported.difference_update([key for key in _reported if key[0] == rule.name])
            _activate()


def discard(rule: FusionRule) -> bool:
    """Take a rule away; return whether it was there."""
    global _rules
    with _lock:
        present = rule in _rules
        _rules = tuple(other for other in _rules if other is not rule)
        _activate()
    return present


def set_dumping(dumping: bool) -> None:
    """Say whether each flush is dumped."""
    global _dumping
    with _lock:
        _dumping = dumping
        _activate()


# ---- what the core calls


def decide(
    graph: GraphDict,
) -> tuple[list[tuple[list[int], str, str]], list[int], list[int]]:
    """Ask the rules in force about a graph."""
    pending = PendingGraph(graph)
    for rule in _rules:
        try:
            pending._apply(rule)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            _report(rule.name, "raised", f"raised {type(error).__name__}: {error}")
    return pending._fusions, sorted(pending._kept), sorted(pending._shapes_read)


def refuse(rule: str, name: str, nodes: list[int], graph: GraphDict, node: int) -> None:
    """Report a fusion that cannot be done."""
    operations = " and ".join(graph["nodes"][n]["op"] for n in nodes)
    last = graph["nodes"][node]["op"]
    why = f"{last} cannot join: its shape, its memory or the order of the program forbid it"
    _report(rule, name, f"asked to fuse {operations} as {name!r}, but {why}")


def _report(rule: str, what: str, message: str) -> None:
    if (rule, what) in _reported:
        return
    _reported.add((rule, what))
    warnings.warn(
        f"fusion rule {rule!r} {message}; it is ignored there, and results are not affected",
        FusionRuleWarning,
        stacklevel=2,
    )


def start(dump: Callable[[GraphDict], None]) -> None:
    """Let the core call; until the interpreter ends."""
    _core.register_graph_hooks(decide, refuse, dump)
    atexit.register(_core.shut_down_graph_hooks)
