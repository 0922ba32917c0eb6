/* What tree-sitter's runtime takes its memory from while a file is parsed, and counts its uses with. A parse
   makes a great many small blocks, all of which end with it, in one thread: they come out of chunks that the
   next parse takes over, and counting needs no atomic operations. CMake puts this header before the runtime's
   own source. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Begins a parse in this thread, and ends it: all that was allocated between is gone. */
void* dtype_guard_begin_parse(void);
void dtype_guard_end_parse(void* parse);

void* dtype_guard_parse_malloc(size_t size);
void* dtype_guard_parse_calloc(size_t count, size_t size);
void* dtype_guard_parse_realloc(void* block, size_t size);
void dtype_guard_parse_free(void* block);

#ifdef __cplusplus
}
#endif

#ifdef DTYPE_GUARD_OF_TREE_SITTER
#define ts_malloc dtype_guard_parse_malloc
#define ts_calloc dtype_guard_parse_calloc
#define ts_realloc dtype_guard_parse_realloc
#define ts_free dtype_guard_parse_free

/* In place of its atomic.h. */
#define TREE_SITTER_ATOMIC_H_
static inline size_t atomic_load(const volatile size_t* p) { return *p; }
static inline uint32_t atomic_inc(volatile uint32_t* p) { return *p += 1; }
static inline uint32_t atomic_dec(volatile uint32_t* p) { return *p -= 1; }
#endif
