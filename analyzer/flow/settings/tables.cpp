#include "analyzer/flow/settings/tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>

#include "analyzer/flow/analysis.h"

namespace dtype_guard::flow {
namespace {

nlohmann::json table(std::string_view file) {
  for (const EmbeddedFile& each : embedded_flow_tables()) {
    if (each.name == file) return nlohmann::json::parse(each.text);
  }
  throw std::logic_error("the table " + std::string(file) + " is not compiled in");
}

Dtype dtype_of(const nlohmann::json& row, const char* key) {
  if (!row.contains(key)) return Dtype::kUndefined;
  const auto dtype = parse_dtype(row.at(key).get<std::string>());
  if (!dtype) throw std::logic_error(std::string("precision_settings.json: no dtype in ") + key);
  return *dtype;
}

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
  const nlohmann::json all = table("modules.json");
  for (const auto& row : all.at("modules")) {
    ModuleType& type = out.emplace_back();
    type.types = row.at("types").get<std::vector<std::string>>();
    type.norm = row.value("norm", false);
    type.parameters = tensors_of(row, "parameters");
    type.buffers = tensors_of(row, "buffers");
    type.forward = row.at("forward").at("operator").get<std::string>();
    type.arguments = row.at("forward").at("arguments").get<std::vector<std::string>>();
    if (row.at("forward").contains("results")) type.results = result_of(row.at("forward").at("results"));
  }
  return out;
}

std::vector<PrecisionSetting> read_settings() {
  std::vector<PrecisionSetting> out;
  const nlohmann::json all = table("precision_settings.json");
  for (const auto& row : all.at("settings")) {
    PrecisionSetting& setting = out.emplace_back();
    setting.name = row.at("name").get<std::string>();
    setting.parameters = dtype_of(row, "parameters");
    setting.buffers = dtype_of(row, "buffers");
    setting.norms = dtype_of(row, "norms");
    setting.inputs = dtype_of(row, "inputs");
    setting.autocast = dtype_of(row, "autocast");
    setting.by_default = row.value("by_default", false);
  }
  return out;
}

bool remove_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

}  // namespace

const std::vector<PrecisionSetting>& precision_settings() {
  static const std::vector<PrecisionSetting> settings = read_settings();
  return settings;
}

const ModuleType* find_module_type(std::string_view type) {
  static const std::vector<ModuleType> modules = read_modules();
  remove_suffix(type, "::forward") || remove_suffix(type, "::operator()");
  remove_suffix(type, "Impl");
  for (const ModuleType& each : modules) {
    if (std::find(each.types.begin(), each.types.end(), type) != each.types.end()) return &each;
  }
  return nullptr;
}

}  // namespace dtype_guard::flow
