// One place in the program, called with one dtype in most ranks and another in a few: usually a checkpoint or
// a configuration that differs, and a hang or a wrong result later. Said even where each call by itself is
// allowed, and also of a few ranks whose calls of an API lie elsewhere and all have dtypes that the others
// never have.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace dtype_guard::san {

struct RankCall {
  int rank = 0;
  std::string api;
  std::string place;                          // "FILE:LINE"
  std::map<std::string, std::string> dtypes;  // by role
};

struct RankDifference {
  std::string api;
  std::string place;
  std::string detail;  // "q is float32 in rank 3, bfloat16 in ranks 0-2"
};

std::vector<RankDifference> rank_differences(const std::vector<RankCall>& calls);

// "rank 3", "ranks 0-2, 5".
std::string describe_ranks(const std::vector<int>& ranks);

}  // namespace dtype_guard::san
