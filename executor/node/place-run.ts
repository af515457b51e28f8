import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { NodeOfRank } from '../../events/jobs.ts'
import { engineSocket } from '../../schemas/deployments/replicas.ts'
import { type AttemptPaths, attemptPaths } from '../attempts/attempt-directory.ts'
import type { Enclosure } from '../attempts/enclosure.ts'
import { attemptsIn, liesIn, runDirectory } from '../attempts/run-directory.ts'
import type { Capacity, Launch } from '../port.ts'
import type { Place } from './environment.ts'
import { deviceFiles } from './gpus.ts'
import { enclosureOf, hasIdentities, type Isolation } from './isolation.ts'
import { nodesOf } from './ranks.ts'
import { RunIdentities } from './run-identity.ts'

/** Decides what each attempt may reach under the isolation of this server. */
export class RunPlaces {
  readonly #isolation: Isolation
  readonly #runsDirectory: string
  readonly #capacity: Capacity
  readonly #identities: RunIdentities | null

  constructor(isolation: Isolation, capacity: Capacity) {
    const { runsDirectory, ids } = isolation.ground
    this.#isolation = isolation
    this.#runsDirectory = runsDirectory
    this.#capacity = capacity
    this.#identities = hasIdentities(isolation) ? new RunIdentities(runsDirectory, ids) : null
  }

  /** The user of a run; null where runs are the server's own user. */
  async identityOf(run_id: string): Promise<number | null> {
    return (await this.#identities?.of(run_id)) ?? null
  }

  /** By rank. */
  async of(
    launch: Launch,
    paths: AttemptPaths,
    id: number | null,
  ): Promise<{ enclosure: Enclosure | null; place: Omit<Place, 'mark'> }[]> {
    const granted = await this.#granted(launch)
    const shared = {
      identity: id === null ? null : { id, groups: granted.groups },
      work: paths.work,
      readable: granted.folders,
      writable: [
        ...(await this.#workOf(launch.run_id)),
        ...(launch.serves ? [path.dirname(this.#socketOf(launch))] : []),
      ],
    }
    const ranks = nodesOf(launch).map(async node => {
      const { rank, gpu_indexes } = node
      const { tmp } = paths.rank(rank)
      const isBare = this.#capacity.fake || gpu_indexes.length === 0
      const devices = isBare ? [] : await deviceFiles(gpu_indexes)
      const enclosure = enclosureOf(this.#isolation, { ...shared, tmp, devices })
      return { enclosure, place: this.#placeOfRank(launch, paths, node) }
    })
    return Promise.all(ranks)
  }

  #socketOf({ run_id }: Launch): string {
    return engineSocket(this.#runsDirectory, run_id)
  }

  #placeOfRank(
    launch: Launch,
    paths: AttemptPaths,
    { node, rank, gpu_indexes }: NodeOfRank,
  ): Omit<Place, 'mark'> {
    const { mode } = this.#isolation
    const mounted = mode === 'bubblewrap'
    // The devices of other runs are hidden, so the remaining ones are numbered from 0.
    const gpus =
      mounted && !this.#capacity.fake ? gpu_indexes.map((_, index) => index) : gpu_indexes
    const { tmp } = paths.rank(rank)
    const isolated = mode !== 'none'
    return {
      ...{ rank, gpus, tmp: mounted ? '/tmp' : tmp },
      home: isolated ? paths.work : null,
      node: isolated ? node : null,
      socket: launch.serves ? this.#socketOf(launch) : null,
    }
  }

  /** The folders of other runs from which this one may start, in full, because links inside may lead anywhere. */
  async #granted({ reads }: Launch): Promise<{ folders: string[]; groups: number[] }> {
    const folders: string[] = []
    const groups: number[] = []
    for (const { run_id, path: named } of reads) {
      const directory = await runDirectory(this.#runsDirectory, run_id)
      if (directory === null || !(await liesIn(directory, named))) continue
      folders.push(...(await this.#workOf(run_id)))
      const id = await this.identityOf(run_id)
      if (id !== null) groups.push(id)
    }
    return { folders, groups }
  }

  async #workOf(run_id: string): Promise<string[]> {
    const directory = path.join(this.#runsDirectory, run_id)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return (await attemptsIn(directory)).map(
      attempt => attemptPaths(path.join(directory, String(attempt))).work,
    )
  }
}
