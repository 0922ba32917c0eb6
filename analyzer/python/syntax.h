// A parsed file: what tree-sitter read, copied once into an array of small nodes in source order, which is
// far quicker to walk than its own tree and is all that is kept. Nodes are handles, valid as long as their
// Tree; field and kind names are the grammar's. Comments and brackets are left out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/python/project_options.h"

struct TSTree;

namespace dtype_guard::python {

class Tree;
class Nodes;

// The nodes below one stand behind it, up to `after`.
struct StoredNode {
  std::uint32_t begin = 0, end = 0;  // bytes
  std::uint32_t after = 0;
  std::uint16_t kind = 0;
  std::uint8_t field = 0;  // what it is to the node above; 0: nothing in particular
  bool named : 1 = false;
  bool error : 1 = false;
};

class Node {
 public:
  Node() = default;
  Node(std::uint32_t at, const Tree* tree) : at_(at), tree_(tree) {}
  explicit operator bool() const { return tree_ != nullptr; }

  std::string_view kind() const;
  std::uint16_t kind_number() const;  // index of kind_names()
  bool is(std::string_view kind_name) const { return tree_ && kind() == kind_name; }
  Node field(std::string_view name) const;
  // Children that are named in the grammar, comments left out.
  Nodes children() const;
  std::vector<Node> children(std::string_view field_name) const;
  Node child(std::size_t index) const;  // of children(); empty behind the last
  std::string_view text() const;
  // Whether an anonymous token such as "async" or "not in" is among the children.
  bool has_token(std::string_view token) const;
  // The anonymous children's text in order: the operators of a comparison.
  std::vector<std::string_view> tokens() const;
  bool has_error() const;
  flow::SourceRange range() const;
  std::uint32_t begin() const;
  std::uint32_t end() const;

 private:
  std::uint32_t at_ = 0;
  const Tree* tree_ = nullptr;
};

// The named children of a node, found as they are asked for.
class Nodes {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Node;
    using difference_type = std::ptrdiff_t;
    using pointer = const Node*;
    using reference = Node;
    Iterator(std::uint32_t at, std::uint32_t end, const Tree* tree) : at_(at), end_(end), tree_(tree) {
      skip();
    }
    Node operator*() const { return {at_, tree_}; }
    inline Iterator& operator++();
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    inline void skip();
    std::uint32_t at_, end_;
    const Tree* tree_;
  };
  Nodes(std::uint32_t first, std::uint32_t end, const Tree* tree) : first_(first), end_(end), tree_(tree) {}
  Iterator begin() const { return {first_, end_, tree_}; }
  Iterator end() const { return {end_, end_, tree_}; }
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }
  operator std::vector<Node>() const { return {begin(), end()}; }

 private:
  std::uint32_t first_, end_;
  const Tree* tree_;
};

// A star before an element that the grammar does not take there, and where the element begins.
struct Star {
  std::uint32_t at = 0, element = 0;
};
std::vector<Star> refused_stars(const TSTree* tree, std::string_view text);
const Star* star_before(const std::vector<Star>& stars, std::uint32_t element);

class Tree {
 public:
  // Never fails: what cannot be parsed is in errors().
  Tree(std::string text, std::string report_name, int seconds);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Node root() const { return nodes_.empty() ? Node() : Node(0, this); }
  const StoredNode& stored(std::uint32_t at) const { return nodes_[at]; }
  flow::SourceRange range(std::uint32_t begin, std::uint32_t end) const;
  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }
  const std::vector<SourceError>& errors() const { return errors_; }

 private:
  void collect_errors(const TSTree* tree);
  void find_python_2(const TSTree* tree);
  void copy(const TSTree* tree, const std::vector<Star>& stars);
  std::size_t line_of(std::uint32_t byte) const;

  std::string text_;
  std::string name_;
  std::vector<StoredNode> nodes_;
  std::vector<std::uint32_t> lines_;  // where each begins
  std::vector<SourceError> errors_;
};

// The grammar's names of kinds and fields, by the numbers of stored nodes.
const std::vector<std::string_view>& kind_names();
const std::vector<std::string_view>& field_names();

// What there is for each of some kinds, found by number.
template <class Value>
class ByKind {
 public:
  ByKind(std::initializer_list<std::pair<std::string_view, Value>> all) : values_(kind_names().size()) {
    for (const auto& [name, value] : all) {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        if (kind_names()[i] == name) values_[i] = value;
      }
    }
  }
  Value operator[](const Node& node) const { return values_[node.kind_number()]; }

 private:
  std::vector<Value> values_;
};

inline std::uint16_t Node::kind_number() const { return tree_->stored(at_).kind; }
inline std::string_view Node::kind() const {
  static const std::vector<std::string_view>& names = kind_names();
  return names[tree_->stored(at_).kind];
}
inline std::uint32_t Node::begin() const { return tree_->stored(at_).begin; }
inline std::uint32_t Node::end() const { return tree_->stored(at_).end; }
inline bool Node::has_error() const { return tree_->stored(at_).error; }
inline std::string_view Node::text() const {
  return tree_ ? std::string_view(tree_->text()).substr(begin(), end() - begin()) : std::string_view();
}
inline Nodes Node::children() const {
  return tree_ ? Nodes(at_ + 1, tree_->stored(at_).after, tree_) : Nodes(0, 0, nullptr);
}
inline void Nodes::Iterator::skip() {
  while (at_ != end_ && !tree_->stored(at_).named) at_ = tree_->stored(at_).after;
}
inline Nodes::Iterator& Nodes::Iterator::operator++() {
  at_ = tree_->stored(at_).after;
  skip();
  return *this;
}

}  // namespace dtype_guard::python
