import { segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list, record } from '../program/list.ts'
import { request } from '../program/request.ts'
import { type CommonOptions, openSignedIn, type Texts, type World } from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'

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

const pathOfProject = (name: string) => `/api/projects/${segment(name)}`

export const describeProjectList = describe({ text: 'the projects you may read' })

export const projectList = list<Project>({
  path: '/api/projects',
  shown: {
    columns: [
      { title: 'PROJECT', cell: row => row.name },
      { title: 'VISIBILITY', cell: row => row.visibility },
      { title: 'OWNER', cell: row => row.owner, shrinks: true },
      { title: 'YOU', cell: row => row.my_role ?? '-' },
      { title: 'RUNS', cell: row => String(row.runs), align: 'right' },
      {
        title: 'NOTES',
        cell: row => row.notes.replaceAll(/\s+/g, ' '),
        shrinks: true,
        drops: true,
      },
    ],
    none: 'No projects yet. Submitting a run creates its project',
  },
})

export const describeProjectShow = describe({
  text: 'a project and its members',
  operands: { '<project>': '' },
})

export const projectShow = record<Project, Member>({
  find: (api, name) => api.get<Project>(pathOfProject(name)),
  lines: ({ name, visibility, runs, created_at, notes }) => [
    `${name}: ${visibility}, ${counted(runs, 'run')}, since ${created_at}`,
    ...(notes === '' ? [] : [notes]),
  ],
  below: {
    name: 'members',
    path: ({ name }) => `${pathOfProject(name)}/members`,
    columns: [
      { title: 'USER', cell: row => row.username, shrinks: true },
      { title: 'ROLE', cell: row => row.role },
      { title: 'SINCE', cell: row => row.since, drops: true },
    ],
  },
})

const memberAt = (name: string, username: string) =>
  `${pathOfProject(name)}/members/${segment(username)}`

type SetOptions = CommonOptions & Texts<'visibility' | 'notes'>

export const describeProjectSet = describe({
  text: 'change who may read a project, and its notes',
  operands: { '<project>': '' },
  options: {
    '--visibility <who>': {
      text: 'private: its people and administrators; internal: everybody',
      choices: ['private', 'internal'],
    },
    '--notes <text>': 'notes about it; an empty text removes them',
  },
})

export async function projectSet(
  world: World,
  name: string,
  options: SetOptions,
): Promise<ExitCode> {
  const { visibility, notes } = options
  if (visibility === undefined && notes === undefined)
    throw usageFailure('Nothing to change', 'hint: forge projects set --help lists the options')
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const change = {
    ...(visibility !== undefined && { visibility }),
    ...(notes !== undefined && { notes }),
  }
  const project = await api.patch<Project & { changed: boolean }>(pathOfProject(name), change)
  if (isJson) terminal.data(toJson(project))
  else terminal.note(`${name} is ${project.changed ? 'now' : 'already'} ${project.visibility}`)
  return exitCode.ok
}

export const describeMemberAdd = describe({
  text: 'add a member, or change the role of one',
  operands: { '<project>': '', '<username>': '' },
  options: {
    '-r, --role <role>': {
      text: 'viewers read, members also submit, maintainers also stop jobs and change the project',
      choices: ['viewer', 'member', 'maintainer'],
      fallback: 'member',
    },
  },
})

export const memberAdd = request<Member & { changed: boolean }, CommonOptions & { role: string }>({
  send: ({ api }, { role }, name, username) => api.put(memberAt(name, username), { role }),
  note: ({ changed, role }, _, name, username) =>
    `${username} is ${changed ? 'now' : 'already'} a ${role} of ${name}`,
})

export const describeMemberRemove = describe({
  text: 'end a membership; people keep access to the jobs they submitted',
  operands: { '<project>': '', '<username>': '' },
})

export const memberRemove = request({
  send: ({ api }, _, name, username) => api.delete(memberAt(name, username)),
  note: (_, __, name, username) => `${username} is no longer a member of ${name}`,
})
