// Writes what fields.h describes as JSON, member by member. Every member is always present, so that reports
// can be compared as text; only places in notebooks have a cell.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/report/fields.h"
#include "rules/report/json_stream.h"

namespace dtype_guard {

class FieldWriter {
 public:
  explicit FieldWriter(JsonStream& json) : json_(json) {}

  template <typename Value>
  void operator()(std::string_view key, const Value& value) {
    json_.key(key);
    write(value);
  }

  void operator()(std::string_view key, const std::optional<NotebookCell>& cell) {
    if (!cell) return;
    json_.key(key);
    write(*cell);
  }

  void write(const std::string& text) { json_.value(text); }
  template <std::integral Number>
  void write(Number number) {
    json_.value(number);
  }
  void write(Level level) { json_.value(name(level)); }
  void write(Certainty certainty) { json_.value(name(certainty)); }
  template <typename Item>
  void write(const std::vector<Item>& items) {
    json_.begin_array();
    for (const Item& item : items) write(item);
    json_.end_array();
  }
  template <typename Value>
  void write(const std::optional<Value>& value) {
    if (value) {
      write(*value);
    } else {
      json_.null();
    }
  }
  void write(const std::map<std::string, std::uint64_t>& counts) {
    json_.begin_object();
    for (const auto& [key, count] : counts) json_.member(key, count);
    json_.end_object();
  }
  template <typename Object>
  requires std::is_class_v<Object>
  void write(const Object& object) {
    json_.begin_object();
    each_field(object, *this);
    json_.end_object();
  }

 private:
  JsonStream& json_;
};

}  // namespace dtype_guard
