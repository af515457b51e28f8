import { setTimeout as delay } from 'node:timers/promises'
import type { StoredArtifact } from '../port.ts'
import { placeStored, removeOthers } from './place-stored.ts'

/** Stored artifacts that an attempt starts from, each with the variable that names it to the run. */
export type Starts = {
  /** Belongs to the run, so that its next attempt finds what this one fetched. */
  directory: string
  artifacts: readonly { variable: string; artifact: StoredArtifact }[]
}

/**
 * Fetches the artifacts to this machine, and returns the variables with their paths. Runs in the folder of the attempt, with the
 * variables by which the run reports. A stop leaves nothing half done.
 */
export async function fetchStarts(
  { directory, artifacts }: Starts,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<Record<string, string>> {
  const { SERVICE_ENDPOINT: endpoint = '', SERVICE_RUN_ID: run_id = '', SERVICE_TOKEN } = env
  const source = { endpoint, run_id, token: SERVICE_TOKEN ?? '' }
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGTERM', stop)
  try {
    await removeOthers(
      directory,
      artifacts.map(({ artifact }) => artifact.artifact_id),
    )
    const paths: Record<string, string> = {}
    for (const { variable, artifact } of artifacts) {
      const options = { directory, scratch: process.cwd(), source, say, signal: stopped.signal }
      paths[variable] = await placeStored(artifact, options)
    }
    return paths
  } finally {
    process.off('SIGTERM', stop)
    if (stopped.signal.aborted) await endBySignal()
  }
}

/** Ends this process as if the signal had not been caught. */
async function endBySignal(): Promise<void> {
  process.kill(process.pid, 'SIGTERM')
  await delay(10_000)
}
