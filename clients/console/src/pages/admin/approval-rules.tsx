import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ApprovalRule } from '../../../../../schemas/approvals.ts'
import { Button } from '../../design/button.tsx'
import { Select, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { Empty, Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { reading } from '../../session/api.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import { useChange } from './change.ts'

const words = wordsOf({
  title: ['Approval rules', '审批规则'],
  none: ['Nothing waits for approval.', '没有需要审批的操作。'],
  name: ['Name', '名称'],
  when: ['When', '条件'],
  who: ['Who decides', '审批人'],
  expires: ['Expires after hours', '过期小时数'],
  admin: ['an admin', '管理员'],
  operator: ['anybody else', '其他任何人'],
  team: ['a team', '团队'],
  teamName: ['Team', '团队名称'],
  gpus: ['a job has at least so many GPUs', '任务至少使用的 GPU 数'],
  cost: ['a job may cost at least', '任务费用至少'],
  reflow_data: ['a job trains on data of a reflow', '任务使用回流数据训练'],
  dataset_license: ['a job uses data with a license', '任务使用带许可证的数据'],
  protected_alias: ['a protected alias is moved', '移动受保护的别名'],
  promotion: ['a revision is promoted', '提升修订版本'],
  quota_raise: ['somebody wants a higher quota', '申请更高配额'],
  least: ['At least', '至少'],
  names: ['Names, separated by commas (empty: all)', '名称，以逗号分隔（空：全部）'],
  set: ['Set rule', '设置规则'],
  remove: ['Remove', '删除'],
})

const path = '/api/approval-rules'
const conditions = [
  ...(['gpus', 'cost', 'reflow_data', 'dataset_license'] as const),
  ...(['protected_alias', 'promotion', 'quota_raise'] as const),
]
type On = (typeof conditions)[number]
type Role = 'admin' | 'operator' | 'team'

/** What waits for an approval, and a form to set a rule. */
export function Section() {
  const say = useWords(words)
  const rules = useQuery(reading<ApprovalRule[]>(path, { limit: 500 }))
  const { send, error } = useChange(path)
  return (
    <Panel title={say.title}>
      <QueryTable
        of={rules}
        none={
          <Empty text={say.none} command="forge admin approval-rule set big-jobs gpus --least 16" />
        }
        caption={say.title}
        keyOf={row => row.name}
        columns={[
          { key: 'name', title: say.name, cell: row => row.name },
          {
            key: 'when',
            title: say.when,
            cell: ({ when: { on, gpus, cost, names } }) =>
              `${say[on]} ${[gpus ?? cost ?? '', ...names].join(', ')}`,
          },
          {
            key: 'who',
            title: say.who,
            cell: ({ who: { role, team } }) => team ?? say[role ?? 'admin'],
          },
          { key: 'expires', title: say.expires, isNumber: true, cell: row => row.expires_h },
          {
            key: 'remove',
            title: '',
            cell: row => (
              <Button kind="quiet" onClick={() => void send('DELETE', `${path}/${row.name}`)}>
                {say.remove}
              </Button>
            ),
          },
        ]}
      />
      <Failure error={error} />
      <SetRule />
    </Panel>
  )
}

function SetRule() {
  const say = useWords(words)
  const [on, setOn] = useState<On>('gpus')
  const [role, setRole] = useState<Role>('admin')
  const { send, error, isBusy } = useChange(path)
  const submit = (given: FormData) => {
    const text = (name: string) => String(given.get(name) ?? '').trim()
    const names = text('names')
      .split(',')
      .map(one => one.trim())
    const when = {
      ...{ on, names: names.filter(Boolean) },
      ...(on === 'gpus' && { gpus: Number(text('least')) }),
      ...(on === 'cost' && { cost: text('least') }),
    }
    const body = {
      when,
      who: role === 'team' ? { team: text('team') } : { role },
      expires_h: Number(text('expires')),
    }
    void send('PUT', `${path}/${encodeURIComponent(text('name'))}`, body)
  }
  return (
    <form
      className={layout.controls}
      onSubmit={event => {
        event.preventDefault()
        submit(new FormData(event.currentTarget))
      }}
    >
      <TextField label={say.name} name="name" required pattern="[a-z0-9][a-z0-9._\-]*" />
      <Select
        label={say.when}
        value={on}
        choices={conditions.map(value => ({ value, text: say[value] }))}
        onChange={setOn}
      />
      {(on === 'gpus' || on === 'cost') && (
        <TextField label={say.least} name="least" inputMode="decimal" required />
      )}
      {(on === 'dataset_license' || on === 'protected_alias') && (
        <TextField label={say.names} name="names" />
      )}
      <Select
        label={say.who}
        value={role}
        choices={(['admin', 'operator', 'team'] as const).map(value => ({
          value,
          text: say[value],
        }))}
        onChange={setRole}
      />
      {role === 'team' && <TextField label={say.teamName} name="team" required />}
      <TextField
        label={say.expires}
        name="expires"
        type="number"
        min={1}
        max={720}
        defaultValue={72}
        required
      />
      <FormEnd error={error} isBusy={isBusy} text={say.set} />
    </form>
  )
}
