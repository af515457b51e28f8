import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import path from 'node:path'
import type { FurtherGroup } from '../attempts/attempt-directory.ts'
import type { RunLimits } from '../attempts/enclosure.ts'

/** The parts of `RunLimits` that the kernel enforces on a control group. */
export type Held = Record<keyof RunLimits, boolean>

/** Below the 32,768 process ids of a small machine, and above the threads of a large run. */
export const defaultProcesses = 16_384

const gib = 1024 ** 3

/** All memory but a tenth, at least 1 GiB and at most 16, for the server, its database and the system. */
export function defaultMemory(): number {
  const total = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  return Math.max(total / 2, total - Math.min(Math.max(total / 10, gib), 16 * gib))
}

/** By controller: the limit, and the files of version 2 and 1 that hold it. */
const controllers = {
  processes: { name: 'pids', files: ['pids.max'] },
  memory_bytes: { name: 'memory', files: ['memory.max', 'memory.limit_in_bytes'] },
} as const
const kinds = ['processes', 'memory_bytes'] as const

/** Lets groups below this one have limits (version 2). It fails where processes are in the group itself. */
export function offerControllers(group: string): void {
  for (const kind of kinds)
    overwrite(path.join(group, 'cgroup.subtree_control'), `+${controllers[kind].name}`)
}

/**
 * Limits a group, and creates further groups where version 1 mounts a controller separately. `mounted` finds the server's group in the
 * hierarchy of a controller.
 */
export function limitGroup(
  directory: string,
  limits: RunLimits,
  mounted: (controller: string) => string | null,
): { held: Held; further: FurtherGroup[] } {
  const further: FurtherGroup[] = []
  const held = { processes: false, memory_bytes: false }
  for (const kind of kinds) {
    held[kind] = limit(directory, kind, limits)
    const home = held[kind] ? null : mounted(controllers[kind].name)
    if (home === null) continue
    const group = path.join(home, path.basename(directory))
    try {
      mkdirSync(group)
      further.push({ directory: group, home })
      held[kind] = limit(group, kind, limits)
    } catch {
      // Not permitted: the start of the server says so.
    }
  }
  return { held, further }
}

/** Whether the group now has this limit, as the kernel reports it. */
function limit(group: string, kind: keyof RunLimits, limits: RunLimits): boolean {
  const value = Math.floor(limits[kind])
  return controllers[kind].files.some(name => {
    const file = path.join(group, name)
    // The kernel rounds memory down to pages.
    return overwrite(file, String(value)) && Number(readFileSync(file, 'utf8')) <= value
  })
}

/** Never makes a file: one that is missing belongs to the other version. */
function overwrite(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'r+' })
    return true
  } catch {
    return false
  }
}
