// The cells of a heap object, in the order of their keys. Objects are copied more often than they grow, so
// they lie in one row.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analyzer/flow/values/values.h"

namespace dtype_guard::flow {

class Cells {
  using Row = std::vector<std::pair<Key, Value>>;

 public:
  using iterator = Row::iterator;
  using const_iterator = Row::const_iterator;
  iterator begin() { return row_.begin(); }
  iterator end() { return row_.end(); }
  const_iterator begin() const { return row_.begin(); }
  const_iterator end() const { return row_.end(); }
  std::size_t size() const { return row_.size(); }
  bool empty() const { return row_.empty(); }
  const Key& last_key() const { return row_.back().first; }

  const_iterator find(const Key& key) const {
    const auto found = std::lower_bound(row_.begin(), row_.end(), key, before);
    return found != row_.end() && found->first == key ? found : row_.end();
  }
  const Value& at(const Key& key) const {
    const auto found = find(key);
    if (found == row_.end()) throw std::out_of_range("an object lacks a cell that it was made with");
    return found->second;
  }
  // The cell, and whether it is new; a new one holds `value`. Other cells may move.
  std::pair<Value&, bool> try_emplace(const Key& key, const Value& value) {
    const auto place = std::lower_bound(row_.begin(), row_.end(), key, before);
    if (place != row_.end() && place->first == key) return {place->second, false};
    return {row_.emplace(place, key, value)->second, true};
  }
  Value& operator[](const Key& key) { return try_emplace(key, Value()).first; }
  void erase(const Key& key) {
    std::erase_if(row_, [&](const auto& each) { return each.first == key; });
  }
  friend bool operator==(const Cells&, const Cells&) = default;

 private:
  static bool before(const std::pair<Key, Value>& entry, const Key& key) { return entry.first < key; }
  Row row_;
};

}  // namespace dtype_guard::flow
