#include "analyzer/flow/settings/precision_setting.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "analyzer/flow/settings/tables.h"

namespace dtype_guard::flow {
namespace {

Dtype dtype_of(const nlohmann::json& row, const char* key) {
  if (!row.contains(key)) return Dtype::kUndefined;
  const auto dtype = parse_dtype(row.at(key).get<std::string>());
  if (!dtype) throw std::logic_error(std::string("precision_settings.json: no dtype in ") + key);
  return *dtype;
}

std::vector<PrecisionSetting> read_settings() {
  std::vector<PrecisionSetting> out;
  const nlohmann::json all = nlohmann::json::parse(table_text("precision_settings.json"));
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

}  // namespace

const std::vector<PrecisionSetting>& precision_settings() {
  static const std::vector<PrecisionSetting> settings = read_settings();
  return settings;
}

Dtype other_half(Dtype dtype) {
  return dtype == Dtype::kFloat16 ? Dtype::kBFloat16 : dtype == Dtype::kBFloat16 ? Dtype::kFloat16 : dtype;
}

bool are_twins(const PrecisionSetting& a, const PrecisionSetting& b) {
  return other_half(a.parameters) == b.parameters && other_half(a.buffers) == b.buffers &&
         other_half(a.norms) == b.norms && other_half(a.inputs) == b.inputs &&
         other_half(a.autocast) == b.autocast;
}

}  // namespace dtype_guard::flow
