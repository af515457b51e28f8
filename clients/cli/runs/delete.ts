import { type Api, segment } from '../api/client.ts'
import { actingOnRuns, eachRun } from '../jobs/each-run.ts'
import { describe, someRuns } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { ask } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'

type DeleteOptions = CommonOptions & Flags<'yes'>

type Deleted = {
  run_id: string
  restorable_until: string
  references: { kind: string; short_id: string; artifact_id: string | null }[]
  references_total: number
}

export const describeDelete = describe({
  text: 'delete runs that have ended; forge restore brings them back for 30 days',
  operands: someRuns,
  options: {
    '-y, --yes': 'do not ask',
  },
  after: `
Lists the runs that started from an artifact of a deleted run, retry it or are clones of it; they are unaffected.
With several runs, each is tried; the exit code is that of the first failure.`,
})

export async function deleteRuns(
  world: World,
  ids: readonly string[],
  options: DeleteOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  if (!options.yes && !(await isSure(session, ids))) return exitCode.interrupted
  return eachRun(ids, 'deleted', id => deleteOne(session, id))
}

/** Asks once for all runs, after listing the runs that refer to them. */
async function isSure(
  { api, terminal, process }: Session,
  ids: readonly string[],
): Promise<boolean> {
  for (const id of ids)
    for (const name of await laterRuns(api, id)) terminal.note(`${name} came from ${id}`)
  const answer = await ask(process, `Delete ${ids.join(', ')}? (yes/no) `, '--yes')
  return /^y(es)?$/i.test(answer.trim())
}

type Lineage = {
  run_id: string
  runs: { run_id: string; short_id: string }[]
  edges: { from: string | null; to: string }[]
}

async function laterRuns(api: Api, id: string): Promise<string[]> {
  const { run_id, runs, edges } = await api.get<Lineage>(`/api/runs/${segment(id)}/lineage`)
  const later = new Set(edges.flatMap(({ from, to }) => (from === run_id ? to : [])))
  return runs.flatMap(run => (later.has(run.run_id) ? run.short_id : []))
}

async function deleteOne({ api, terminal, isJson }: Session, id: string): Promise<void> {
  const answer = await api.delete<Deleted>(`/api/runs/${segment(id)}`)
  if (isJson) return terminal.data(toJson(answer))
  const { run_id, restorable_until, references, references_total } = answer
  terminal.data(`${run_id} deleted`)
  for (const { kind, short_id, artifact_id } of references)
    terminal.note(`  ${short_id} ${words[kind] ?? kind} ${artifact_id ?? 'it'}`)
  const more = references_total - references.length
  if (more > 0) terminal.note(`  and ${more} more refer to it`)
  terminal.note(`  until ${restorable_until}: forge restore ${id}`)
}

const words: Record<string, string> = {
  init_from: 'started from',
  retry: 'is a retry of',
  clone: 'is a clone of',
}

export const describeRestore = describe({
  text: 'bring back runs that were deleted in the last 30 days',
  operands: { '<runs...>': 'run ids or short ids; forge ps --deleted lists them' },
})

type Restored = { run_id: string; already: boolean }

export const restoreRuns = actingOnRuns('restored', ({ api, terminal, isJson }) => async id => {
  const reply = await api.post<Restored>(`/api/runs/${segment(id)}/restore`, {})
  const text = `${reply.run_id} ${reply.already ? 'was not deleted' : 'restored'}`
  terminal.data(isJson ? toJson(reply) : text)
})
