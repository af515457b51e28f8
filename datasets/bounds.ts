/** In bytes; a longer line is an error, so that no row takes much memory. */
export const maxLineBytes = 16 * 1024 * 1024

/** How deep lists and objects may be nested in a row. */
export const maxDepth = 64

/** Fields of a row, and columns of a table. */
export const maxFields = 1_000

/** Errors are counted beyond, but no longer recorded. */
export const maxErrors = 1_000

/** In characters (UTF-16). */
export const maxErrorMessage = 200

/** Entries in the index of a file. */
export const maxOffsets = 10_000

/** Rows between two offsets of an index, as long as these are fewer than `maxOffsets`. */
export const rowsPerOffset = 1_000

/** In bytes, decompressed; a row group of a Parquet file is read as a whole. */
export const maxRowGroupBytes = 256 * 1024 * 1024

/** Values of one column in a row group, with those of lists counted one by one. */
export const maxColumnValues = 16_000_000

/** In bytes; what describes a Parquet file at its end. */
export const maxFooterBytes = 64 * 1024 * 1024

/** Splits of a dataset. */
export const maxSplits = 8
