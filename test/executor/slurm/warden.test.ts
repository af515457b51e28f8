import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import test from 'ava'
import { clusterAt } from '../../../deploy/slurm/cluster.ts'
import { patient } from '../../servers/patience.ts'
import { slurmIsWanted } from '../../servers/slurm-cluster.ts'
import { until } from '../../servers/until.ts'

if (slurmIsWanted)
  test('a cluster ends with the process that started it, together with the processes of its jobs', async t => {
    t.timeout(patient(400_000))
    const { starter, folder } = await started()
    const { command } = clusterAt({ folder, url: '', nodes: [] })
    // A process that leaves the session of its job, and one that ignores signals.
    const job = `touch ${folder}/up; trap '' TERM; setsid sleep 3000 & sleep 3000`
    await command('sbatch', '--output=/dev/null', `--wrap=${job}`)
    await until('the job runs', 60_000, () => isThere(join(folder, 'up')))
    const ended = once(starter, 'exit')
    starter.kill('SIGKILL')
    await ended
    await until('nothing of it is left', 120_000, async () => {
      const left = await commandsThatKnow(folder)
      return left.length === 0 && !(await isThere(folder))
    })
    t.false(await isThere(folder))
  })
else
  test('without a need for Slurm no cluster is started', t => {
    t.falsy(process.env.FORGE_TEST_SLURM_CLUSTER)
  })

/** `npm run slurm`, once the cluster is up. */
async function started(): Promise<{ starter: ChildProcess; folder: string }> {
  const starter = spawn(process.execPath, ['deploy/slurm/run.ts', '--nodes', '1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [starter.stdout, starter.stderr])
    stream.on('data', chunk => {
      printed += chunk
    })
  const folder = await until('it is up', 120_000, () => {
    if (starter.exitCode !== null) throw new Error(`it ended: ${printed}`)
    return /SERVICE_SLURM_JWT_KEY_FILE=(\S+)[\s\\]+SERVICE_SLURM_DIR=/.exec(printed)?.[1]
  })
  return { starter, folder: dirname(folder) }
}

const isThere = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  )

async function commandsThatKnow(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name))
  const read = (pid: string, file: string) =>
    readFile(join('/proc', pid, file), 'utf8').catch(() => '')
  const found = await Promise.all(
    pids.map(async pid => {
      const line = await read(pid, 'cmdline')
      return `${line}${await read(pid, 'environ')}`.includes(folder) ? [line] : []
    }),
  )
  return found.flat()
}
