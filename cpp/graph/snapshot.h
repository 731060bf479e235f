// Snapshot: recorded entries and what becomes of them, as data for people and for fusion rules.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/tape.h"

namespace asc {

struct Snapshot {
    // What an entry reads: the result of an earlier one, an array that is there, or a number.
    struct Operand {
        int node = -1;   // the last entry that wrote it, or
        int array = -1;  // its place in `arrays`, or
        std::string number;
        DType dtype;
        Dims shape;
    };
    struct Node {
        const char* op;  // the function that recorded it
        DType dtype;
        Dims shape;
        std::string parameters;
        std::vector<Operand> operands;
        const std::string* line;  // of the program, if that is traced
        const Storage* target;    // what it writes
        bool in_place = false;    // into memory that is there already
        bool held = false;        // somebody can see the result
        bool dropped = false;     // nobody needs the result
        bool merged = false;      // an equal entry, or a conversion back, computes it already
    };
    // An array from before.
    struct Outside {
        DType dtype;
        int64_t bytes;
        const Storage* storage;
    };
    // Memory that a group writes.
    struct Memory {
        int node;  // whose result it is
        int64_t bytes;
        bool in_place;
        uintptr_t block = 0;  // its address, once it is there
    };
    struct Group {
        std::string name;
        std::vector<int> nodes;
        std::vector<Memory> written;
        int instructions = 0;        // of its programs
        bool by_rows = false;        // blocks of rows go through all of it
        int64_t begin = 0, end = 0;  // when it ran, in nanoseconds
    };

    uint16_t stream = 0;
    std::vector<Node> nodes;  // in the order of the program
    std::vector<Outside> arrays;
    std::vector<Group> groups;  // in the order in which they run
};

// The entries, without groups.
Snapshot snapshot_of(std::span<const Entry> entries);

}  // namespace asc
