import { type Command, Option } from 'commander'
import { type Api, segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type Project = {
  name: string
  owner: string
  visibility: string
  notes: string
  runs: number
  my_role: string | null
  created_at: string
}
type Member = { username: string; role: string; since: string }

const pathOf = (name: string) => `/api/projects/${segment(name)}`

export const describeProjectList = (command: Command): Command =>
  command.description('the projects you may read')

export const describeProjectShow = (command: Command): Command =>
  command.argument('<project>').description('a project and its members')

export const describeProjectSet = (command: Command): Command =>
  command
    .argument('<project>')
    .description('change who may read a project, and its notes')
    .addOption(
      new Option(
        '--visibility <who>',
        'private: its people and administrators; internal: everybody',
      ).choices(['private', 'internal']),
    )
    .option('--notes <text>', 'notes about it; an empty text removes them')

export const describeMemberAdd = (command: Command): Command =>
  command
    .argument('<project>')
    .argument('<username>')
    .description('add a member, or change the role of one')
    .addOption(
      new Option(
        '-r, --role <role>',
        'viewers read, members also submit, maintainers also stop jobs and change the project',
      )
        .choices(['viewer', 'member', 'maintainer'])
        .default('member'),
    )

export const describeMemberRemove = (command: Command): Command =>
  command
    .argument('<project>')
    .argument('<username>')
    .description('end a membership; what they submitted stays theirs to read')

export async function projectList(world: World, options: CommonOptions): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const projects = await everyPage<Project>(api, '/api/projects')
  if (isJson) terminal.data(toJson(projects))
  else if (projects.length === 0)
    terminal.note('No projects yet. Submitting a run creates its project')
  else
    for (const line of table(projectColumns, projects, { width: terminal.columns() }))
      terminal.data(line)
  return exitCode.ok
}

const projectColumns: Column<Project>[] = [
  { title: 'PROJECT', cell: row => row.name },
  { title: 'VISIBILITY', cell: row => row.visibility },
  { title: 'OWNER', cell: row => row.owner, shrinks: true },
  { title: 'YOU', cell: row => row.my_role ?? '-' },
  { title: 'RUNS', cell: row => String(row.runs), align: 'right' },
  { title: 'NOTES', cell: row => row.notes.replaceAll(/\s+/g, ' '), shrinks: true, drops: true },
]

export async function projectShow(
  world: World,
  name: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const project = await api.get<Project>(pathOf(name))
  const members = await readMembers(api, name)
  if (isJson) {
    terminal.data(toJson({ ...project, members }))
    return exitCode.ok
  }
  const { visibility, runs, created_at, notes } = project
  terminal.data(`${project.name}: ${visibility}, ${counted(runs, 'run')}, since ${created_at}`)
  if (notes !== '') terminal.data(notes)
  terminal.data('')
  for (const line of table(memberColumns, members, { width: terminal.columns() }))
    terminal.data(line)
  return exitCode.ok
}

const readMembers = (api: Api, name: string) => everyPage<Member>(api, `${pathOf(name)}/members`)

const memberColumns: Column<Member>[] = [
  { title: 'USER', cell: row => row.username, shrinks: true },
  { title: 'ROLE', cell: row => row.role },
  { title: 'SINCE', cell: row => row.since, drops: true },
]

type SetOptions = CommonOptions & { visibility?: string; notes?: string }

export async function projectSet(
  world: World,
  name: string,
  options: SetOptions,
): Promise<ExitCode> {
  const { visibility, notes } = options
  if (visibility === undefined && notes === undefined)
    throw usageFailure('Nothing to change', 'hint: forge projects set --help lists what can be')
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const change = {
    ...(visibility !== undefined && { visibility }),
    ...(notes !== undefined && { notes }),
  }
  const project = await api.patch<Project & { changed: boolean }>(pathOf(name), change)
  if (isJson) terminal.data(toJson(project))
  else terminal.note(`${name} is ${project.changed ? 'now' : 'already'} ${project.visibility}`)
  return exitCode.ok
}

export async function memberAdd(
  world: World,
  name: string,
  username: string,
  options: CommonOptions & { role: string },
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = `${pathOf(name)}/members/${segment(username)}`
  const answer = await api.put<Member & { changed: boolean }>(path, { role: options.role })
  const when = answer.changed ? 'now' : 'already'
  if (isJson) terminal.data(toJson(answer))
  else terminal.note(`${username} is ${when} a ${answer.role} of ${name}`)
  return exitCode.ok
}

export async function memberRemove(
  world: World,
  name: string,
  username: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const answer = await api.delete(`${pathOf(name)}/members/${segment(username)}`)
  if (isJson) terminal.data(toJson(answer))
  else terminal.note(`${username} is no longer a member of ${name}`)
  return exitCode.ok
}
