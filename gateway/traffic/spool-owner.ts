import { readFileSync, readlinkSync, statSync } from 'node:fs'
import { hostname } from 'node:os'

/** A process, identified by the name of its folder: its host or container, and the process there. */
export type Owner = { host: string; boot: string; space: string; pid: string; start: string }

/** After this time without a change in its folder, an owner that cannot be checked here counts as gone. */
const silentMs = 10 * 60_000

const fileText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

/** When it started, in ticks since the boot; empty if there is no such process. A name may hold spaces and brackets. */
function startOf(pid: string): string {
  const text = fileText(`/proc/${pid}/stat`)
  const [state = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? '' : (rest[18] ?? '')
}

const plain = (text: string): string => text.replace(/[^A-Za-z0-9.-]/g, '') || 'none'

export function thisOwner(): Owner {
  const pid = String(process.pid)
  let space = ''
  try {
    space = readlinkSync('/proc/self/ns/pid')
  } catch {
    // Without /proc, only silence shows that an owner is gone.
  }
  return {
    host: plain(hostname()),
    boot: plain(fileText('/proc/sys/kernel/random/boot_id')),
    space: plain(space),
    pid,
    start: plain(startOf(pid)),
  }
}

/** `nth`: an owner has several folders, its own and any it took over. */
export const folderOf = ({ host, boot, space, pid, start }: Owner, nth: number): string =>
  [nth, host, boot, space, pid, start].join('~')

function ownerOf(folder: string): Owner | null {
  const [nth, host, boot, space, pid, start, ...more] = folder.split('~')
  if (!nth || !host || !boot || !space || !pid || !start || more.length > 0) return null
  return { host, boot, space, pid, start }
}

/** The name of a restored folder: its owner's process, which may still run, does not use this copy. */
export function disowned(folder: string): string {
  const owner = ownerOf(folder)
  const [nth = '0'] = folder.split('~')
  return owner ? [nth, ...Object.values({ ...owner, boot: 'restored' })].join('~') : folder
}

/**
 * Whether the process that this folder belongs to has ended. On another host or in another container, only silence
 * shows it: an owner touches its folder every ten seconds.
 */
export function isLeft(me: Owner, folder: string, path: string, nowMs: number): boolean {
  const owner = ownerOf(folder)
  if (!owner) return false
  const knowsBoot = me.boot !== 'none' && owner.boot !== 'none'
  if (knowsBoot && owner.boot === me.boot && owner.space === me.space)
    return plain(startOf(owner.pid)) !== owner.start
  if (knowsBoot && owner.host === me.host && owner.boot !== me.boot) return true
  return nowMs - statSync(path).mtimeMs > silentMs
}
