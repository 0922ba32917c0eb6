// The IR as text: what --dump-flow prints, what tests are written on, and what summary files hold. One
// instruction per line, printed as the comments in ir.h show it; `print` and `parse` are exact inverses.
// Positions follow a semicolon, with the file left out where it is the function's own:
//
//   file "var.cpp"
//
//   method Attention::forward key _ZN9Attention7forwardEN2at6TensorE of Attention ; var.cpp:12:14-12:21
//     parameter x: tensor
//     variables q
//   b0:
//     %1 = param 0
//     %2 = param 1
//     %3 = const -1
//     %4 = op normalize(%2, dim=%3) ; 14:12-14:33 "F::normalize(x)"
//     store q, %4
//     return %4
//
// Names that are not plain words stand in quotes; a variable whose name was declared before carries its
// number (`q#3`). Lines that begin with // are ignored.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "analyzer/flow/ir/ir.h"

namespace dtype_guard::flow {

std::string print(const Module& module);
std::string print(const Function& function, const Module& module);

// Text that is not IR. what() reads "line 12: found 'foo', expected an instruction".
class TextError : public std::runtime_error {
 public:
  TextError(int line_number, const std::string& problem);
  int line;
};

// Throws TextError; also for a value or block that is used but never defined, or defined twice.
Module parse(std::string_view text);

}  // namespace dtype_guard::flow
