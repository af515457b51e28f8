import { createHash, type Hash } from 'node:crypto'

/** Hashes the content of a file of this size to the id that git gives it, by which hubs list small files. */
export const gitHash = (size: number): Hash => createHash('sha1').update(`blob ${size}\0`)
