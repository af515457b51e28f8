import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { secretLimits } from '../../../../../schemas/secret-limits.ts'
import type { SecretRow } from '../../../../../schemas/secrets.ts'
import { Ask } from '../../design/ask.tsx'
import { Button } from '../../design/button.tsx'
import { TextArea } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { NameField } from '../../design/name-field.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useAct } from '../../session/use-act.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import styles from './page.module.css'

const words = wordsOf({
  title: ['Secrets', '机密'],
  none: [
    'Only your own jobs receive these values: a job that names one in spec.secrets gets it as an environment variable.',
    '只有您自己的任务会收到这些值：任务在 spec.secrets 中写明名称后，即可通过环境变量读取。',
  ],
  name: ['Name', '名称'],
  value: ['Value', '值'],
  valueHint: ['It is stored encrypted and never shown again.', '加密存储，之后不再显示。'],
  setAt: ['Set', '设置于'],
  neededBy: ['Needed by', '使用者'],
  set: ['Set the secret', '设置机密'],
  remove: ['Remove', '移除'],
  removeOne: [(name: string) => `Remove ${name}`, (name: string) => `移除 ${name}`],
  replaceOne: [(name: string) => `Replace ${name}`, (name: string) => `替换 ${name}`],
  replace: ['Replace', '替换'],
  gone: ['Its value cannot be restored.', '其值无法恢复。'],
  breaks: [
    (jobs: string) => `These jobs need it, and fail when they start again without it: ${jobs}`,
    (jobs: string) => `以下任务需要它，再次启动时会因缺少它而失败：${jobs}`,
  ],
})

const path = '/api/secrets'
const pathOf = (name: string) => `${path}/${encodeURIComponent(name)}`

/** The secrets of the person who is signed in: names, never values. */
export function Secrets() {
  const say = useWords(words)
  const known = useQuery(reading<SecretRow[]>(`${path}?limit=${secretLimits.ofPerson}`))
  const [name, setName] = useState('')
  const [removed, setRemoved] = useState<SecretRow | null>(null)
  return (
    <Panel title={say.title}>
      <QueryTable
        of={known}
        none={<p>{say.none}</p>}
        caption={say.title}
        keyOf={one => one.name}
        columns={[
          { key: 'name', title: say.name, cell: one => <code>{one.name}</code> },
          { key: 'set', title: say.setAt, cell: one => <Ago at={one.set_at} /> },
          { key: 'needed', title: say.neededBy, cell: one => <Jobs of={one} /> },
          {
            key: 'acts',
            title: '',
            cell: one => (
              <>
                <Button
                  kind="quiet"
                  aria-label={say.replaceOne(one.name)}
                  onClick={() => setName(one.name)}
                >
                  {say.replace}
                </Button>
                <Button
                  kind="quiet"
                  aria-label={say.removeOne(one.name)}
                  onClick={() => setRemoved(one)}
                >
                  {say.remove}
                </Button>
              </>
            ),
          },
        ]}
      />
      <SetSecret {...{ name, setName }} />
      {removed && <Removal of={removed} onClose={() => setRemoved(null)} />}
    </Panel>
  )
}

const Jobs = ({ of: { needed_by } }: { of: SecretRow }) =>
  needed_by.map(({ run_id, short_id }, nth) => (
    <span key={run_id}>
      {nth > 0 && ', '}
      <Link to="/runs/$run_id" params={{ run_id: short_id }}>
        {short_id}
      </Link>
    </span>
  ))

function SetSecret({ name, setName }: { name: string; setName: (name: string) => void }) {
  const say = useWords(words)
  const [value, setValue] = useState('')
  const { submitting, error, isBusy } = useAct()
  const save = async () => {
    await request('PUT', pathOf(name.trim()), { body: { value } })
    setName('')
    setValue('')
    await reread(path)
  }
  return (
    <form className={styles.form} onSubmit={submitting(save)}>
      <NameField
        label={say.name}
        value={name}
        required
        maxLength={128}
        placeholder="HUB_TOKEN"
        onChange={event => setName(event.target.value)}
      />
      <TextArea
        label={say.value}
        hint={say.valueHint}
        value={value}
        required
        rows={2}
        maxLength={secretLimits.bytes}
        autoComplete="off"
        spellCheck={false}
        onChange={event => setValue(event.target.value)}
      />
      <FormEnd {...{ error, isBusy }} text={say.set} />
    </form>
  )
}

function Removal({ of: { name, needed_by }, onClose }: { of: SecretRow; onClose: () => void }) {
  const say = useWords(words)
  const { act, error, isBusy: busy } = useAct()
  const remove = async () => {
    await request('DELETE', pathOf(name))
    await reread(path)
    onClose()
  }
  return (
    <Ask
      title={say.removeOne(name)}
      text={say.remove}
      isDangerous
      {...{ busy, error, onClose }}
      onYes={() => void act(remove)}
    >
      <p>{say.gone}</p>
      {needed_by.length > 0 && (
        <p>{say.breaks(needed_by.map(({ short_id }) => short_id).join(', '))}</p>
      )}
    </Ask>
  )
}
