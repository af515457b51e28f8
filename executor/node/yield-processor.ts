import { writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import path from 'node:path'

/** The nicest that a process can be. */
const nicest = 19
/** The niceness that a run adds to the server's: the server gets three times the processor time of one of its processes. */
const step = 5
/** The weight of a run's control group; a process of the server has 100. */
const weights = { 'cpu.weight': '33', 'cpu.shares': '341' }

/**
 * Lets the server go first wherever this process and its later children compete with it. Needs no rights, and cannot be
 * undone by any user other than root.
 */
export function yieldProcessor(): void {
  setPriority(Math.min(nicest, getPriority() + step))
}

/** The same for the session that this process leads: some kernels share the processor by sessions first. */
export function yieldSession(pid: number): void {
  tryOverwrite(`/proc/${pid}/autogroup`, String(step))
}

/** The same for a control group: where it governs the processor, priorities count only among its members. */
export function yieldGroup(directory: string): void {
  for (const [file, weight] of Object.entries(weights))
    tryOverwrite(path.join(directory, file), weight)
}

function tryOverwrite(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'r+' })
  } catch {
    // This kernel, or this group, does not share the processor in this way.
  }
}
