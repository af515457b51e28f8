import { readdir, readFile, rm } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { commandsOf, confOf, endJobs } from './commands.ts'

// Run as `warden.ts <folder>` by the starter of the cluster in that folder. Its standard input ends when the cluster was
// stopped, or when the starter is gone for any reason. Then it ends the remaining processes, and deletes the folder.
const [, , folder = ''] = process.argv
const endWithinMs = 30_000
const betweenRoundsMs = 100

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
for await (const _ of process.stdin);
await endJobs(commandsOf(folder))
await endLeftOvers()
await rm(folder, { recursive: true, force: true, maxRetries: 10 })

/** The daemons, their job supervisors, and the processes of jobs; repeated until none of them has started another. */
async function endLeftOvers(): Promise<void> {
  const deadline = Date.now() + endWithinMs
  while (Date.now() < deadline) {
    const found = await leftOvers()
    if (found.length === 0) return
    for (const pid of found) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
    await delay(betweenRoundsMs)
  }
}

/** Does not match a server that only uses the cluster. */
async function leftOvers(): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter(pid => pid > 0 && pid !== process.pid)
  const belongs = await Promise.all(pids.map(belongsToCluster))
  return pids.filter((_, index) => belongs[index])
}

async function belongsToCluster(pid: number): Promise<boolean> {
  const read = (file: string) => readFile(join('/proc', String(pid), file), 'utf8').catch(() => '')
  const environment = `\0${await read('environ')}`
  return (
    environment.includes(`\0SLURM_CONF=${confOf(folder)}\0`) ||
    environment.includes(`\0TMPDIR=${folder}${sep}`) ||
    (await read('cmdline')).includes(`${folder}${sep}`)
  )
}
