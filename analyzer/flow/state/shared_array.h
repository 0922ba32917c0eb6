// An array whose copies share what neither has changed since: a tree of two levels of 32 below one row. A
// copy costs a pointer, a change the few nodes above it, and comparing or joining two copies costs what
// differs between them. States are copied at every branch, and a linked program's state has tens of thousands
// of entries.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/flow/values/shared.h"

namespace dtype_guard::flow {

// Summary is what a leaf remembers about its entries until one of them changes: default-constructible, with
// add(const T&).
template <class T, class Summary>
class SharedArray {
  static constexpr std::size_t kWidth = 32;
  struct Leaf {
    std::array<T, kWidth> entries;
    mutable std::optional<Summary> summary;
    Leaf() = default;
    Leaf(const Leaf& other) : entries(other.entries) {}
    Leaf& operator=(const Leaf&) = delete;
    ~Leaf() = default;
  };
  struct Branch {
    std::array<Shared<Leaf>, kWidth> leaves;
  };
  using Row = std::vector<Shared<Branch>>;

 public:
  bool same(const SharedArray& other) const { return row_ == other.row_; }

  // A default entry where none was ever set.
  const T& operator[](std::size_t index) const {
    static const T nothing{};
    const Leaf* leaf = leaf_at(index / kWidth);
    return leaf ? leaf->entries[index % kWidth] : nothing;
  }

  // For writing; the reference holds until the next call of a member.
  T& change(std::size_t index) {
    const std::size_t number = index / kWidth;
    const std::size_t branch = number / kWidth;
    Row& row = own(row_);
    if (row.size() <= branch) row.resize(branch + 1);
    Leaf& leaf = own(own(row[branch]).leaves[number % kWidth]);
    leaf.summary.reset();
    return leaf.entries[index % kWidth];
  }

  // Calls visit(index, entry) for all entries of the leaves whose summary `wanted` holds for; stops when it
  // says false.
  template <class Wanted, class Visit>
  bool visit_where(const Wanted& wanted, const Visit& visit) const {
    for (std::size_t number = 0; number < leaf_count(); ++number) {
      const Leaf* leaf = leaf_at(number);
      if (!leaf || !wanted(summary_of(*leaf))) continue;
      for (std::size_t i = 0; i < kWidth; ++i) {
        if (!visit(number * kWidth + i, leaf->entries[i])) return false;
      }
    }
    return true;
  }

  // Calls visit(index, entry of this, entry of other) wherever the two do not share a leaf; stops when it
  // says false.
  template <class Visit>
  bool visit_differences(const SharedArray& other, const Visit& visit) const {
    if (same(other)) return true;
    static const Leaf nothing{};
    // Copies: what is visited may be changed meanwhile.
    const Shared<Row> mine = row_;
    const Shared<Row> theirs = other.row_;
    const std::size_t branches = std::max(mine ? mine->size() : 0, theirs ? theirs->size() : 0);
    const auto branch_of = [](const Shared<Row>& row, std::size_t at) {
      return row && at < row->size() ? (*row)[at].get() : nullptr;
    };
    for (std::size_t b = 0; b < branches; ++b) {
      const Branch* left = branch_of(mine, b);
      const Branch* right = branch_of(theirs, b);
      if (left == right) continue;
      for (std::size_t l = 0; l < kWidth; ++l) {
        const Shared<Leaf> from = left ? left->leaves[l] : nullptr;
        const Shared<Leaf> to = right ? right->leaves[l] : nullptr;
        if (from == to) continue;
        const std::size_t start = (b * kWidth + l) * kWidth;
        for (std::size_t i = 0; i < kWidth; ++i) {
          const T& one = (from ? *from : nothing).entries[i];
          const T& two = (to ? *to : nothing).entries[i];
          if (!visit(start + i, one, two)) return false;
        }
      }
    }
    return true;
  }

 private:
  template <class Node>
  static Node& own(Shared<Node>& node) {
    if (!node) {
      node = Shared<Node>::make();
    } else if (!node.has_one_owner()) {
      node = Shared<Node>::make(std::as_const(*node));
    }
    return *node;
  }
  std::size_t leaf_count() const { return row_ ? row_->size() * kWidth : 0; }
  const Leaf* leaf_at(std::size_t number) const {
    const std::size_t branch = number / kWidth;
    if (!row_ || branch >= row_->size() || !(*row_)[branch]) return nullptr;
    return (*row_)[branch]->leaves[number % kWidth].get();
  }
  static const Summary& summary_of(const Leaf& leaf) {
    if (!leaf.summary) {
      leaf.summary.emplace();
      for (const T& each : leaf.entries) leaf.summary->add(each);
    }
    return *leaf.summary;
  }

  Shared<Row> row_;
};

}  // namespace dtype_guard::flow
