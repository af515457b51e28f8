import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type SmallDisk = {
  /** Its root, which every user may enter. */
  folder: string
  /** Writes until there is no room for another byte. */
  fill(): void
  /** Deletes what `fill` has written. */
  free(): void
}

/** A separate file system in memory, with so much room. Needs root, as mounting does. */
export async function smallDisk(
  t: { teardown(end: () => unknown): void },
  mebibytes: number,
): Promise<SmallDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-disk-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  mount(folder, mebibytes)
  t.teardown(() => execFileSync('umount', ['--lazy', folder]))
  const filler = join(folder, 'filler')
  return {
    folder,
    fill() {
      mkdirSync(filler, { recursive: true })
      const file = openSync(join(filler, 'file'), 'w')
      try {
        // Smaller and smaller pieces, down to the last block.
        for (let bytes = 1024 ** 2; bytes > 0; bytes = Math.floor(bytes / 2))
          writeWhileRoom(file, bytes)
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler, { recursive: true, force: true }),
  }
}

function writeWhileRoom(file: number, bytes: number): void {
  const piece = Buffer.alloc(bytes, 1)
  try {
    while (writeSync(file, piece) === bytes);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

function mount(folder: string, mebibytes: number): void {
  const options = `size=${mebibytes}m,mode=0711`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'forge-test', folder], { stdio: 'pipe' })
}

/** Throws where this process may not mount a file system. */
export async function tryMount(): Promise<void> {
  const ends: (() => unknown)[] = []
  try {
    await smallDisk({ teardown: end => ends.push(end) }, 1)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
