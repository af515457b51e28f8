import { InvalidArgumentError } from 'commander'
import { segment } from '../api/client.ts'
import { describe, ofProject, overrideOption } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { list, record } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'

type Alias = { alias: string; version: number; is_protected: boolean; moved_by: string }
type Model = {
  model: string
  project: string
  owner: string
  description: string
  newest_version: number | null
  aliases: Alias[]
}
type Version = {
  version: number
  state: string
  source: { artifact_id: string; run_id: string }
  aliases: string[]
  stage_notes: string
  created_by: string
  created_at: string
}

const pathOfModel = (name: string): string => `/api/models/${segment(name)}`

const whole = (text: string): number => {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a version is a number from 1 on')
}

export const describeModelList = describe({
  text: 'the registered models you may read',
  options: ofProject,
})

export const modelList = list<Model, CommonOptions & Texts<'project'>>({
  path: '/api/models',
  filters: ({ project }) => ({ project }),
  shown: {
    columns: [
      { title: 'MODEL', cell: row => row.model, shrinks: true },
      { title: 'PROJECT', cell: row => row.project, shrinks: true },
      { title: 'NEWEST', cell: row => String(row.newest_version ?? '-'), align: 'right' },
      { title: 'ALIASES', cell: row => shownAliases(row.aliases), shrinks: true },
      { title: 'OWNER', cell: row => row.owner, shrinks: true, drops: true },
    ],
    none: 'No models yet: forge model register NAME ARTIFACT -p PROJECT',
    isJsonByLine: true,
  },
})

const shownAliases = (aliases: readonly Alias[]): string =>
  aliases.map(({ alias, version }) => `${alias}=${version}`).join(' ') || '-'

export const describeModelShow = describe({
  text: 'a model with its versions and aliases',
  operands: { '<model>': '' },
})

export const modelShow = record<Model, Version>({
  find: (api, name) => api.get<Model>(pathOfModel(name)),
  lines: ({ project, model, description, aliases }) => [
    `${project}/${model}  ${shownAliases(aliases)}`,
    ...(description === '' ? [] : [description]),
  ],
  below: {
    name: 'versions',
    path: ({ model }) => `${pathOfModel(model)}/versions`,
    columns: [
      { title: 'VERSION', cell: row => String(row.version), align: 'right' },
      { title: 'STATE', cell: row => row.state },
      { title: 'ALIASES', cell: row => row.aliases.join(' ') || '-', shrinks: true },
      { title: 'ARTIFACT', cell: row => row.source.artifact_id },
      { title: 'RUN', cell: row => row.source.run_id, drops: true },
      { title: 'NOTES', cell: row => row.stage_notes, shrinks: true, drops: true },
    ],
  },
})

type Register = CommonOptions & Texts<'project' | 'notes' | 'license'>

export const describeModelRegister = describe({
  text: 'make an artifact the next version of a model',
  operands: { '<model>': '', '<artifact>': 'its id: forge artifacts RUN lists them' },
  options: {
    '-p, --project <name>': 'where to create the model if the name is new',
    '--notes <text>': 'notes about the version',
    '--license <name>': 'e.g. apache-2.0',
  },
})

export async function modelRegister(
  world: World,
  name: string,
  artifact_id: string,
  options: Register,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { project, notes: stage_notes, license } = options
  if (project !== undefined && (await api.find(pathOfModel(name))) === null)
    await api.post('/api/models', { name, project }, { creates: true })
  const body = {
    artifact_id,
    ...(stage_notes !== undefined && { stage_notes }),
    ...(license !== undefined && { license }),
  }
  const made = await api.post<{ version: number }>(`${pathOfModel(name)}/versions`, body, {
    creates: true,
  })
  terminal.data(isJson ? toJson(made) : `${name}@${made.version}`)
  return exitCode.ok
}

type Move = CommonOptions & Texts<'reason'> & Flags<'overrideGates'> & { expected?: number }
type Moved = { version: number | null; previous_version: number | null; changed: boolean }

export const describeModelAlias = describe({
  text: 'point an alias at a version; earlier uses keep the version they resolved',
  operands: {
    '<model>': '',
    '<alias>': 'e.g. production',
    '<version>': { text: 'the version to point it at', read: whole },
  },
  options: {
    '-m, --reason <text>': 'why, for the history',
    '--expected <version>': { text: 'only if it points at this one now', read: whole },
    ...overrideOption,
  },
})

export async function modelAlias(
  world: World,
  name: string,
  alias: string,
  version: number,
  { reason, expected: expected_version, overrideGates: override_gates, ...options }: Move,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const moved = await api.put<Moved>(`${pathOfModel(name)}/aliases/${segment(alias)}`, {
    version,
    ...(reason !== undefined && { reason }),
    ...(expected_version !== undefined && { expected_version }),
    ...(override_gates && { override_gates }),
  })
  const before = moved.previous_version === null ? '' : `, before ${moved.previous_version}`
  terminal.data(isJson ? toJson(moved) : `${name}@${alias} is version ${moved.version}${before}`)
  return exitCode.ok
}

type AliasMove = {
  at: string
  actor: string
  from: number | null
  to: number | null
  reason: string
  overridden: string[]
}

export const describeModelHistory = describe({
  text: 'who moved an alias when, from which version to which, and why',
  operands: { '<model>': '', '<alias>': '' },
  options: {
    '--at <time>': 'only the move in force then, e.g. 2026-11-20T12:00:00Z',
  },
})

export const modelHistory = list<AliasMove, CommonOptions & Texts<'at'>>({
  path: (_, name, alias) => `${pathOfModel(name)}/aliases/${segment(alias)}/history`,
  filters: ({ at }) => ({ at }),
  shown: {
    columns: [
      { title: 'AT', cell: row => row.at },
      { title: 'FROM', cell: row => String(row.from ?? '-'), align: 'right' },
      { title: 'TO', cell: row => String(row.to ?? '-'), align: 'right' },
      { title: 'BY', cell: row => row.actor, shrinks: true },
      { title: 'WHY', cell: row => row.reason, shrinks: true, drops: true },
      { title: 'OVERRODE', cell: row => row.overridden.join('; '), shrinks: true, drops: true },
    ],
    isJsonByLine: true,
  },
})
