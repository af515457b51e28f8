import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Launch } from '../port.ts'
import { localPath } from './run-directory.ts'

/**
 * Maps a path reported by a run into this folder of runs. The database keeps reported paths unchanged; in a data
 * directory that was restored elsewhere, they still name the original.
 */
export function pathHere(runsDirectory: string, run_id: string, named: string): string {
  const local = localPath(named)
  if (!local || !path.isAbsolute(local)) return named
  const run = path.join(runsDirectory, run_id)
  const normal = path.normalize(local)
  if (normal.startsWith(`${run}/`)) return named
  const inRuns = `/${path.basename(runsDirectory)}/${run_id}/`
  const at = normal.indexOf(inRuns)
  const rest = normal.slice(at + inRuns.length)
  if (at === -1 || !/^[1-9]\d{0,8}\/work\//.test(rest)) return named
  const here = path.join(run, rest)
  return existsSync(here) ? here : named
}

/** Maps the paths of a launch's starting files into this folder of runs. */
export function launchHere(runsDirectory: string, launch: Launch): Launch {
  const { run_id, env, preparation } = launch
  const reads = launch.reads.map(read => ({
    ...read,
    path: pathHere(runsDirectory, read.run_id, read.path),
  }))
  const renamed = new Map(launch.reads.map((read, nth) => [read.path, reads[nth]?.path]))
  const within = (given: Record<string, string>) => ({
    ...given,
    ...(given.FORGE_INIT_FROM && {
      FORGE_INIT_FROM: renamed.get(given.FORGE_INIT_FROM) ?? given.FORGE_INIT_FROM,
    }),
    ...(given.FORGE_RESUME_FROM && {
      FORGE_RESUME_FROM: pathHere(runsDirectory, run_id, given.FORGE_RESUME_FROM),
    }),
  })
  return {
    ...launch,
    reads,
    env: within(env),
    preparation: preparation && { ...preparation, env: within(preparation.env) },
  }
}
