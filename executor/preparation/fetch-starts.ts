import { setTimeout as delay } from 'node:timers/promises'
import type { DatasetToPlace, EnvironmentToPlace, ModelToPlace, StoredArtifact } from '../port.ts'
import type { FetchOptions } from './fetch-stored.ts'
import { placeFiles } from './place-dataset.ts'
import { placeEnvironment } from './place-rl-environment.ts'
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
  return untilStopped(env, say, async options => {
    await removeOthers(
      directory,
      artifacts.map(({ artifact }) => artifact.artifact_id),
    )
    const paths: Record<string, string> = {}
    for (const { variable, artifact } of artifacts) {
      const scratch = process.cwd()
      paths[variable] = await placeStored(artifact, { directory, scratch, ...options })
    }
    return paths
  })
}

/** Datasets, RL environments and the model that an attempt reads, and the folder in which all runs share them. */
export type Data = {
  directory: string
  datasets: readonly DatasetToPlace[]
  environments: readonly EnvironmentToPlace[]
  model: ModelToPlace | null
  adapter: ModelToPlace | null
}

const datasetFiles = { path: 'dataset/content', ref: 'ref' } as const
const modelFiles = { path: 'model/content', ref: 'hub_ref' } as const

/** An RL environment that is on this machine. */
export type PlacedEnvironment = { environment: EnvironmentToPlace; path: string }

export type Fetched = {
  variables: Record<string, string>
  paths: string[]
  environments: PlacedEnvironment[]
}

/**
 * Fetches them to this machine, and returns `FORGE_DATASETS`, which describes each dataset by the name that the job gives it, and
 * `FORGE_MODEL` and `FORGE_ADAPTER`, the paths of the model and its adapter.
 */
export async function fetchData(
  // Attempts that an earlier version submitted name no environments.
  { directory, datasets, environments = [], model, adapter }: Data,
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
): Promise<Fetched> {
  return untilStopped(env, say, async options => {
    const described: Record<string, object> = {}
    const paths = new Set<string>()
    const shared = { directory, now: () => new Date() }
    for (const dataset of datasets) {
      const { as, ref, digest, split, weight, files } = dataset
      const place = await placeFiles(dataset, { ...shared, from: datasetFiles, ...options })
      const meant = files.filter(file => split === null || file.split === split)
      const names = meant.map(({ name }) => name)
      described[as] = { path: place, split, weight, digest, ref, files: names }
      paths.add(place)
    }
    const variables: Record<string, string> =
      datasets.length === 0 ? {} : { FORGE_DATASETS: JSON.stringify(described) }
    for (const [variable, one] of Object.entries({ FORGE_MODEL: model, FORGE_ADAPTER: adapter })) {
      if (one === null) continue
      const place = await placeFiles(one, { ...shared, from: modelFiles, ...options })
      variables[variable] = place
      paths.add(place)
    }
    const placed: PlacedEnvironment[] = []
    for (const environment of environments) {
      const place = await placeEnvironment(environment, { ...shared, ...options })
      placed.push({ environment, path: place })
      paths.add(place)
    }
    return { variables, paths: [...paths], environments: placed }
  })
}

/** Runs a fetch with the variables by which the run reports, until it ends or SIGTERM arrives. */
async function untilStopped<T>(
  env: NodeJS.ProcessEnv,
  say: (line: string) => void,
  fetch: (options: FetchOptions) => Promise<T>,
): Promise<T> {
  const { SERVICE_ENDPOINT: endpoint = '', SERVICE_RUN_ID: run_id = '', SERVICE_TOKEN } = env
  const source = { endpoint, run_id, token: SERVICE_TOKEN ?? '' }
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGTERM', stop)
  try {
    return await fetch({ source, say, signal: stopped.signal })
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
