// A parsed file: tree-sitter's tree in a form that is pleasant to read. Nodes are handles, valid as long as
// their Tree; field and kind names are the grammar's.
#pragma once

#include <tree_sitter/api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/flow/ir/ir.h"
#include "analyzer/python/front_end.h"

namespace dtype_guard::python {

class Tree;

class Node {
 public:
  Node() = default;
  Node(TSNode node, const Tree* tree) : node_(node), tree_(tree) {}
  explicit operator bool() const { return tree_ && !ts_node_is_null(node_); }

  std::string_view kind() const { return ts_node_type(node_); }
  bool is(std::string_view kind_name) const { return *this && kind() == kind_name; }
  Node field(std::string_view name) const;
  // Children that are named in the grammar, comments left out.
  std::vector<Node> children() const;
  std::vector<Node> children(std::string_view field_name) const;
  Node child(std::size_t index) const;  // of children(); empty behind the last
  std::string_view text() const;
  // Whether an anonymous token such as "async" or "not in" is among the children.
  bool has_token(std::string_view token) const;
  // The anonymous children's text in order: the operators of a comparison.
  std::vector<std::string_view> tokens() const;
  bool has_error() const { return ts_node_has_error(node_); }
  flow::SourceRange range() const;
  std::uint32_t begin() const { return ts_node_start_byte(node_); }
  std::uint32_t end() const { return ts_node_end_byte(node_); }
  const void* id() const { return node_.id; }

 private:
  TSNode node_{};
  const Tree* tree_ = nullptr;
};

class Tree {
 public:
  // Never fails: what cannot be parsed is in errors().
  Tree(std::string text, std::string report_name, int seconds);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  Node root() const;
  const std::string& text() const { return text_; }
  const std::string& name() const { return name_; }
  const std::vector<SourceError>& errors() const { return errors_; }

 private:
  void collect_errors();
  void find_python_2();

  std::string text_;
  std::string name_;
  TSTree* tree_ = nullptr;
  std::vector<SourceError> errors_;
};

}  // namespace dtype_guard::python
