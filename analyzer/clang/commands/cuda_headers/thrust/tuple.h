// Stands in for Thrust.
#pragma once
#include <tuple>

namespace thrust {
using std::get;
using std::make_tuple;
using std::tie;
using std::tuple;
}  // namespace thrust
