// The page through which another process switches this one (process/switch.h): made here.
#pragma once

namespace dtype_guard::san {

// Makes the page that other processes find, in a process that has something to watch: a program without
// kernels gets no descriptor from us. A forked child gets its own, as fork returns; one that was made by
// _Fork or a raw clone with its first record.
void open_control();

}  // namespace dtype_guard::san
