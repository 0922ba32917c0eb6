// Questions about an expression: its dtype in each precision setting, and where that was decided.
#pragma once

#include <string>
#include <vector>

#include "analyzer/driver/editing/diagnostics.h"
#include "analyzer/driver/editing/edited_project.h"
#include "analyzer/flow/seen_values.h"

namespace dtype_guard::driver {

class Values {
 public:
  Values(EditedProject& project, const EditedTexts& edited, const ClientView& view, const BeforeStep& step);
  // Null where nothing is known of the place.
  lsp::Json hover(const std::string& path, const lsp::Position& position);
  lsp::Json definition(const std::string& path, const lsp::Position& position);
  lsp::Json hints(const std::string& path, const lsp::Range& range);

 private:
  // The innermost expression there, as each function that was made of it has it.
  struct Expression {
    const flow::Instruction* shown = nullptr;            // whose range and text it is
    std::vector<const flow::Instruction*> instructions;  // that give its value
  };
  Expression at(const std::string& path, const lsp::Position& position);
  std::vector<flow::SeenValue> values_of(const std::vector<const flow::Instruction*>& instructions);
  std::string table(const std::vector<flow::SeenValue>& values) const;
  std::string about(const std::string& path, const lsp::Position& position, const Expression& found);
  std::string place_of(const SourceLocation& place) const;
  std::string named_rule(const std::string& path, const lsp::Position& position);

  EditedProject& project_;
  const AskedProgram asked_;
  const ClientView& view_;
  const BeforeStep& step_;
  TextsNow texts_;
};

}  // namespace dtype_guard::driver
