#include "analyzer/flow/settings/module_types.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/flow/settings/tables.h"

namespace dtype_guard::flow {
namespace {

std::vector<ModuleType::Tensor> tensors_of(const nlohmann::json& row, const char* key) {
  std::vector<ModuleType::Tensor> out;
  if (!row.contains(key)) return out;
  for (const auto& each : row.at(key)) {
    out.push_back({each.at("name").get<std::string>(), each.at("rank").get<int>()});
  }
  return out;
}

ModuleType::Result result_of(const nlohmann::json& node) {
  if (node.is_number()) return {node.get<int>(), {}};
  ModuleType::Result out;
  for (const auto& each : node) out.parts.push_back(result_of(each));
  return out;
}

std::vector<ModuleType> read_modules() {
  std::vector<ModuleType> out;
  const nlohmann::json all = nlohmann::json::parse(table_text("modules.json"));
  for (const auto& row : all.at("modules")) {
    ModuleType& type = out.emplace_back();
    type.types = row.at("types").get<std::vector<std::string>>();
    type.norm = row.value("norm", false);
    type.parameters = tensors_of(row, "parameters");
    type.buffers = tensors_of(row, "buffers");
    type.forward = row.at("forward").at("operator").get<std::string>();
    type.arguments = row.at("forward").at("arguments").get<std::vector<std::string>>();
    if (row.at("forward").contains("results")) type.results = result_of(row.at("forward").at("results"));
    type.contract = row.at("forward").value("contract", "");
  }
  return out;
}

}  // namespace

const ModuleType* find_module_type(std::string_view type) {
  static const std::vector<ModuleType> modules = read_modules();
  constexpr std::string_view kBehindHolder = name_of(Named::kClassBehindHolder);
  if (const std::string_view run = qualified_name(type); is_named(Named::kRunAsCall, run))
    type = type.substr(0, type.rfind("::"));
  if (type.ends_with(kBehindHolder)) type.remove_suffix(kBehindHolder.size());
  for (const ModuleType& each : modules) {
    if (std::find(each.types.begin(), each.types.end(), type) != each.types.end()) return &each;
  }
  return nullptr;
}

}  // namespace dtype_guard::flow
