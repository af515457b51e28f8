import type { Static } from 'typebox'
import type {
  Pool,
  TeamDetail,
  TeamMember,
  TeamRow,
  teamMemberGone,
  teamSaved,
} from '../../../schemas/teams.ts'
import { describe } from '../program/describe.ts'
import { usageFailure } from '../program/failure.ts'
import { list, record } from '../program/list.ts'
import { request } from '../program/request.ts'
import type { CommonOptions, Texts } from '../program/session.ts'
import { counted } from '../terminal/amounts.ts'
import { oneTeam, path, pathOfTeam } from './paths.ts'

type Saved = Static<typeof teamSaved>
type Gone = Static<typeof teamMemberGone>

export const describeTeamCreate = describe({
  text: 'create a team; you are its first owner',
  operands: { '<team>': 'its name: lower-case letters, digits, dots and dashes' },
  options: { '--description <text>': 'what it does' },
})

export const teamCreate = request<Saved, CommonOptions & Texts<'description'>>({
  send: ({ api }, { description }, name) =>
    api.post<Saved>(
      path,
      { name, ...(description !== undefined && { description }) },
      {
        creates: true,
      },
    ),
  note: ({ name }) => `Created team ${name}; forge team members set ${name} USERNAME adds members`,
})

export const describeTeamList = describe({ text: 'your teams; admins see all' })

export const teamList = list<TeamRow>({
  path,
  shown: {
    columns: [
      { title: 'TEAM', cell: row => row.name },
      { title: 'YOU', cell: row => row.my_role ?? '-' },
      { title: 'MEMBERS', cell: row => String(row.members), align: 'right' },
      { title: 'PROJECTS', cell: row => String(row.projects), align: 'right' },
      { title: 'DESCRIPTION', cell: row => row.description, shrinks: true, drops: true },
    ],
    none: 'You are in no team: forge team create NAME',
  },
})

export const describeTeamShow = describe({
  text: 'a team, its pool and its members',
  operands: oneTeam,
})

const limitOf = (used: number | string, limit: number | null) =>
  `${used} of ${limit ?? 'any number'}`

export const teamShow = record<TeamDetail, TeamMember>({
  find: (api, name) => api.get<TeamDetail>(pathOfTeam(name)),
  lines: ({ name, description, projects, pool, use, groups }) => [
    `${name}: ${counted(projects, 'project')}${description === '' ? '' : `, ${description}`}`,
    `GPUs ${limitOf(use.concurrent_gpus, pool.max_concurrent_gpus)}, jobs ${limitOf(use.concurrent_jobs, pool.max_concurrent_jobs)}, GPU hours today ${limitOf(use.gpu_hours_today, pool.daily_gpu_hours)}`,
    ...groups.map(({ group, role }) => `group ${group}: ${role}`),
  ],
  below: {
    name: 'members',
    path: ({ name }) => `${pathOfTeam(name)}/members`,
    columns: [
      { title: 'USER', cell: row => row.username, shrinks: true },
      { title: 'ROLE', cell: row => row.role },
      { title: 'SET BY', cell: row => row.source },
      { title: 'SINCE', cell: row => row.since, drops: true },
    ],
  },
})

export const describeTeamSet = describe({
  text: 'change the description of a team',
  operands: oneTeam,
  options: { '--description <text>': 'what it does; an empty text removes it' },
})

export const teamSet = request<Saved, CommonOptions & Texts<'description'>>({
  send: ({ api }, { description }, name) => {
    if (description === undefined) throw usageFailure('Nothing to change: give --description')
    return api.patch<Saved>(pathOfTeam(name), { description })
  },
  note: ({ name, changed }) => `${name} is ${changed ? 'changed' : 'as it was'}`,
})

export const describeTeamPool = describe({
  text: 'set what the jobs of a team may hold together, as an administrator',
  operands: oneTeam,
  options: {
    '--gpus <n>': 'GPUs at once; none: no limit',
    '--jobs <n>': 'jobs at once; none: no limit',
    '--daily-gpu-hours <n>': 'GPU hours of each UTC day; none: no limit',
  },
})

const limits = { gpus: 'max_concurrent_gpus', jobs: 'max_concurrent_jobs' } as const

export const teamPool = request<Saved, CommonOptions & Texts<'gpus' | 'jobs' | 'dailyGpuHours'>>({
  send({ api }, options, name) {
    const pool: Partial<Pool> = {}
    for (const [option, limit] of Object.entries(limits)) {
      const text = options[option as keyof typeof limits]
      if (text !== undefined) pool[limit] = numberOf(text)
    }
    if (options.dailyGpuHours !== undefined) pool.daily_gpu_hours = numberOf(options.dailyGpuHours)
    if (Object.keys(pool).length === 0)
      throw usageFailure('Nothing to set', 'hint: forge team pool --help lists the options')
    return api.patch<Saved>(pathOfTeam(name), { pool })
  },
  note: ({ name, pool: { max_concurrent_gpus: gpus, max_concurrent_jobs: jobs } }) =>
    `Jobs of ${name} may hold ${gpus ?? 'any number of'} GPUs in ${jobs ?? 'any number of'} jobs`,
})

function numberOf(text: string): number | null {
  if (text === 'none') return null
  if (!/^\d{1,7}(\.\d+)?$/.test(text)) throw usageFailure(`${text}: give a number, or none`)
  return Number(text)
}

export const describeTeamLeave = describe({
  text: 'leave a team; your projects of the team get another owner',
  operands: oneTeam,
  options: { '--hand-over-to <username>': 'a member; otherwise the first owner of the team' },
})

export const teamLeave = request<Gone, CommonOptions & Texts<'handOverTo'>>({
  send: ({ api }, { handOverTo }, name) =>
    api.post<Gone>(
      `${pathOfTeam(name)}/leave`,
      handOverTo === undefined ? {} : { hand_over_to: handOverTo },
    ),
  note: ({ team, handed_over }) => [
    `You are no longer in team ${team}`,
    ...handed_over.map(({ project, owner }) => `${project} belongs to ${owner} now`),
  ],
})

export const describeTeamRemove = describe({
  text: 'delete a team that owns nothing any more',
  operands: oneTeam,
})

export const teamRemove = request({
  send: ({ api }, _, name) => api.delete(pathOfTeam(name)),
  note: (_, __, name) => `Deleted team ${name}`,
})
