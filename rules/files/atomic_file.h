// Files that are there completely or not at all: written beside their place and renamed, so that neither an
// interrupt nor a second run ever leaves half of one.
#pragma once

#include <string>
#include <string_view>

namespace dtype_guard {

// Empty when it went well, else the reason in words ("No space left on device"). What is no regular file
// (a pipe, /dev/stdout) is written to directly. A file that is known by more names than one, or whose owner
// or attributes a new one could not have, stays the file that it is: signals wait until its text is whole.
std::string write_atomically(const std::string& path, std::string_view text);
// For a program of several threads, once at its start: SIGINT, SIGTERM and SIGHUP end it when no thread is
// writing.
void let_writing_end_before_signals();
// Why a file of that name cannot be written, found out without touching it; empty when it can.
std::string why_not_writable(const std::string& path);

}  // namespace dtype_guard
