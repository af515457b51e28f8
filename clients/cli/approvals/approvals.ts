import type { ApprovalDetail, ApprovalRow } from '../../../schemas/approvals.ts'
import { type Api, segment } from '../api/client.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import { request } from '../program/request.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Texts,
  type World,
} from '../program/session.ts'
import { showOne } from '../program/show-one.ts'
import { toJson } from '../terminal/harmless.ts'

const path = '/api/approvals'
const oneApproval = { '<approval>': 'its ID, or the job that it is for' }

export const describeApprovalList = describe({
  text: 'what waits for your approval',
  options: {
    '--mine': 'what you asked for',
    '--all': 'what you may see, decided or not',
  },
})

export const approvalList = list<ApprovalRow, CommonOptions & Flags<'mine' | 'all'>>({
  path,
  filters: ({ mine, all }) => ({ view: all ? 'all' : mine ? 'by_me' : 'for_me' }),
  shown: {
    columns: [
      { title: 'ID', cell: row => row.approval_id },
      { title: 'WHAT', cell: row => row.title, shrinks: true },
      { title: 'BY', cell: row => row.requested_by },
      { title: 'RULE', cell: row => row.rule, drops: true },
      { title: 'STATE', cell: row => row.state },
      { title: 'EXPIRES', cell: row => row.expires_at, drops: true },
    ],
    none: 'Nothing waits',
  },
})

export const describeApprovalShow = describe({
  text: 'exactly what an approval is for',
  operands: oneApproval,
})

export async function approvalShow(
  world: World,
  named: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  const { api, terminal } = session
  const approval = await api.get<ApprovalDetail>(await pathOf(api, named))
  return showOne(session, approval, {
    width: 9,
    facts: one => [
      ['what', one.title],
      ['state', one.reason === null ? one.state : `${one.state}: ${one.reason}`],
      ['asked by', one.requested_by],
      ['rule', one.rule],
      ['expires', one.expires_at],
      ['digest', one.subject.digest],
      ...one.decisions.map(
        ({ by, decision, comment }) => [decision, `${by} ${comment}`.trim()] as const,
      ),
    ],
    more: ({ content }) => terminal.data(toJson(content)),
  })
}

type Decided = { approval_id: string; state: string; changed: boolean }

const decide = (decision: 'approved' | 'rejected') =>
  request<Decided, CommonOptions & Texts<'comment'>>({
    send: async ({ api }, { comment = '' }, named) =>
      api.post<Decided>(`${await pathOf(api, named)}/decide`, { decision, comment }),
    note: ({ approval_id, state, changed }) =>
      changed ? `${approval_id} is ${state}` : `${approval_id} is ${state} already`,
  })

const comment = { '--comment <text>': 'for the person who asked' }

export const describeApprove = describe({
  text: 'approve; what waited for it happens at once',
  operands: oneApproval,
  options: comment,
})
export const approve = decide('approved')

export const describeReject = describe({
  text: 'reject; a job that waited for it ends',
  operands: oneApproval,
  options: comment,
})
export const reject = decide('rejected')

/** The path of an approval that is named by its id, or by the job that waits for it. */
async function pathOf(api: Api, named = ''): Promise<string> {
  if (named.startsWith('apr_')) return `${path}/${segment(named)}`
  const waiting = await api.get<ApprovalRow[]>(path, { state: 'pending', limit: 500 })
  const found = waiting.filter(
    ({ subject, title }) => subject.id === named || title === `job ${named}`,
  )
  const [only] = found
  if (only === undefined || found.length > 1)
    throw usageFailure(
      only === undefined
        ? `Nothing waits for an approval of ${named} (forge approve ls)`
        : `Several approvals wait for ${named}; give an ID`,
    )
  return `${path}/${segment(only.approval_id)}`
}
