import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startCluster } from './cluster.ts'
import { installSlurm, SlurmMissing } from './packages.ts'

// `npm run slurm`: a cluster of fake nodes for local use, until Ctrl-C.
const { values } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    nodes: { type: 'string', default: '3' },
    gpus: { type: 'string', default: '4' },
  },
})

// Registered now, so that an early Ctrl-C waits for the start and then ends it in order; a second one changes nothing.
const asked = new Promise(resolve => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve)
})
const folder = await mkdtemp(join(tmpdir(), 'forge-slurm-'))
try {
  if (values.install) await installSlurm()
  console.error('Starting Slurm…')
  const cluster = await startCluster({
    folder,
    nodes: Number(values.nodes),
    gpusPerNode: Number(values.gpus),
  })
  const shared = join(folder, 'shared')
  await mkdir(shared, { mode: 0o700 })
  console.log(
    `Slurm is at ${cluster.url}: ${values.nodes} nodes of this machine with ${values.gpus} fake GPUs each.`,
  )
  console.log(`Ctrl-C ends it with its jobs, and deletes ${folder}.`)
  console.log('Start the server with it in another terminal:')
  console.log(`  SERVICE_SLURM_URL=${cluster.url} \\`)
  console.log(`  SERVICE_SLURM_JWT_KEY_FILE=${cluster.keyFile} \\`)
  console.log(`  SERVICE_SLURM_DIR=${shared} npm start`)
  console.log('Its jobs ask for the profile slurm: --set spec.resources.profile=slurm')
  await asked
  await cluster.stop()
} catch (error) {
  if (!(error instanceof Error)) throw error
  console.error(
    error instanceof SlurmMissing ? error.message : `Slurm did not start: ${error.message}`,
  )
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}
