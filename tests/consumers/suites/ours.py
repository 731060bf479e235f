"""What the plugins share: our name, and the choice of the tests in which it occurs."""

import pytest

NAME = "ascend_array_api"


def keep_ours(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests none of whose parameters names ascend_array_api."""

    def is_ours(item: pytest.Item) -> bool:
        call = getattr(item, "callspec", None)
        return call is not None and any(NAME in repr(v) for v in call.params.values())

    others = [item for item in items if not is_ours(item)]
    items[:] = [item for item in items if is_ours(item)]
    config.hook.pytest_deselected(items=others)
