import { rm } from 'node:fs/promises'
import type { Handover, LaunchRecord } from '../attempts/attempt-directory.ts'
import { readJson, writeDurably } from '../attempts/durable-json.ts'
import { preparationEnvironment, runEnvironment } from '../node/environment.ts'
import type { Launch } from '../port.ts'
import type { SlurmPaths } from './attempt-files.ts'

/**
 * Leaves each rank its environment, with the token of the run: in a file for this user alone that the rank deletes once it has
 * read it. Slurm would keep a variable of the job and show it to its administrators.
 */
export async function handOver(
  launch: Launch,
  paths: SlurmPaths,
  turn: number,
  host: Record<string, string>,
): Promise<void> {
  for (let rank = 0; rank < launch.nodes; rank++) {
    const node = paths.node(rank)
    const mark = (await readJson<LaunchRecord>(node.launch))?.mark ?? ''
    const place = {
      mark,
      tmp: node.rank(0).tmp,
      home: null,
      rank,
      gpus: [],
      node: null,
      socket: null,
    }
    const handover: Handover = {
      ranks: [{ env: runEnvironment(host, launch, place), enclosure: null }],
      preparation_env: preparationEnvironment(host, launch.preparation?.env ?? {}, mark),
      preparation_input: launch.preparation?.input ?? '',
      // The folders of a cluster are not on a disk of the server.
      disk: { limit_bytes: launch.disk_bytes ?? null },
      turn: 1,
    }
    await writeDurably(node.handover(turn), handover)
  }
}

/** Deletes handovers that no rank will read, because the jobs of their turns never started. */
export async function takeBack(paths: SlurmPaths, nodes: number, lastTurn: number): Promise<void> {
  for (let rank = 0; rank < nodes; rank++)
    for (let turn = 1; turn <= lastTurn; turn++)
      await rm(paths.node(rank).handover(turn), { force: true })
}
