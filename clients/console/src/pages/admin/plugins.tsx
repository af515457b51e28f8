import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { pluginHooks } from '../../../../../schemas/plugin-words.ts'
import type {
  PluginCall,
  PluginRow,
  PluginSaved,
  PluginTested,
} from '../../../../../schemas/plugins.ts'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Copyable } from '../../design/copy.tsx'
import { Dialog } from '../../design/dialog.tsx'
import { Checkbox, Select, TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import { Empty, Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading } from '../../session/api.ts'
import { visible } from '../../words/visible.ts'
import { useWords, wordsOf } from '../../words/words.ts'
import { useChange } from './change.ts'
import styles from './page.module.css'
import { words } from './words.ts'

const own = wordsOf({
  plugins: ['Plugins', '插件'],
  none: ['No plugins. Forge asks nobody.', '没有插件，Forge 不询问任何外部服务。'],
  add: ['New plugin', '新建插件'],
  hooks: ['Hooks', '挂接点'],
  mode: ['Without a usable answer', '无有效回应时'],
  fail_open: ['go on', '继续'],
  fail_closed: ['refuse', '拒绝'],
  calls: ['Calls in 24 h', '24 小时调用'],
  waiting: ['Waiting', '等待中'],
  dead: ['given up', '已放弃'],
  lastError: ['Last error', '最近错误'],
  off: ['off', '已关闭'],
  isOn: ['Switched on', '已启用'],
  url: ['Address (https)', '地址 (https)'],
  timeout: ['Time limit, ms', '时限 (毫秒)'],
  rotate: ['New secret; the former one signs for 24 h', '新密钥；旧密钥在 24 小时内仍签名'],
  secretOf: [
    (name: string) => `The secret of ${name}, shown only once:`,
    (name: string) => `${name} 的密钥，仅显示一次：`,
  ],
  test: ['Test', '测试'],
  tested: [
    (name: string, ms: number) => `${name} answered in ${ms} ms:`,
    (name: string, ms: number) => `${name} 在 ${ms} 毫秒内回应：`,
  ],
  testFailed: [
    (name: string, ms: number, why: string) => `${name} failed after ${ms} ms: ${why}`,
    (name: string, ms: number, why: string) => `${name} 在 ${ms} 毫秒后失败：${why}`,
  ],
  show: ['Calls', '调用记录'],
  callsOf: [(name: string) => `Calls of ${name}`, (name: string) => `${name} 的调用记录`],
  noCalls: ['It was not called yet.', '尚未被调用。'],
  about: ['About', '内容'],
  outcome: ['Outcome', '结果'],
  answered: ['answered', '已回应'],
  refused: ['refused', '已拒绝'],
  failed: ['failed', '失败'],
  status: ['Status', '状态码'],
  ms: ['ms', '毫秒'],
  error: ['Error', '错误'],
})

const path = '/api/admin/plugins'
const at = (name: string) => `${path}/${encodeURIComponent(name)}`

const hooks: readonly (typeof pluginHooks)[number][] = [
  'admission.mutate',
  'admission.validate',
  'job.terminal',
  'artifact.registered',
  'deployment.promote',
  'diagnosis.analyze',
]

/** Services that Forge asks about jobs and promotions, or notifies of events. */
export function Section() {
  const tell = useWords(own)
  const plugins = useQuery(reading<PluginRow[]>(path))
  const [edited, setEdited] = useState<Partial<PluginRow> | null>(null)
  const [saved, setSaved] = useState<PluginSaved | null>(null)
  const [shown, setShown] = useState<string | null>(null)
  return (
    <Panel title={tell.plugins} actions={<Button onClick={() => setEdited({})}>{tell.add}</Button>}>
      {saved?.secret && (
        <p role="status">
          {tell.secretOf(saved.name)} <Copyable text={saved.secret} />
        </p>
      )}
      <Plugins of={plugins} onEdit={setEdited} onShow={setShown} />
      {edited && <Editor plugin={edited} onSaved={setSaved} onClose={() => setEdited(null)} />}
      {shown !== null && <Calls name={shown} onClose={() => setShown(null)} />}
    </Panel>
  )
}

type PluginsProps = {
  of: Parameters<typeof QueryTable<PluginRow>>[0]['of']
  onEdit: (plugin: PluginRow) => void
  onShow: (name: string) => void
}

function Plugins({ of, onEdit, onShow }: PluginsProps) {
  const say = useWords(words)
  const tell = useWords(own)
  const { send, error } = useChange(path)
  const [tested, setTested] = useState<(PluginTested & { name: string }) | null>(null)
  const test = async (name: string) => {
    const answer = await send<PluginTested>('POST', `${at(name)}/test`, {})
    if (answer) setTested({ name, ...answer })
  }
  return (
    <>
      <Failure error={error} />
      {tested && <Tested of={tested} />}
      <QueryTable
        of={of}
        none={<Empty text={tell.none} />}
        caption={tell.plugins}
        keyOf={({ name }) => name}
        columns={[
          {
            key: 'name',
            title: say.name,
            cell: ({ name, enabled }) => (
              <>
                {name} {!enabled && <Badge>{tell.off}</Badge>}
              </>
            ),
          },
          { key: 'hooks', title: tell.hooks, cell: one => one.hooks.join(', ') },
          { key: 'mode', title: tell.mode, cell: one => tell[one.mode] },
          { key: 'calls', title: tell.calls, isNumber: true, cell: one => one.calls_24h },
          {
            key: 'waiting',
            title: tell.waiting,
            cell: one => (
              <>
                {one.waiting}{' '}
                {one.dead > 0 && <Badge tone="bad">{`${one.dead} ${tell.dead}`}</Badge>}
              </>
            ),
          },
          {
            key: 'error',
            title: tell.lastError,
            cell: one => <span className={styles.long}>{visible(one.last_error ?? '')}</span>,
          },
          {
            key: 'act',
            title: '',
            cell: one => (
              <span className={styles.row}>
                <Button
                  kind="quiet"
                  aria-label={`${tell.test}: ${one.name}`}
                  onClick={() => void test(one.name)}
                >
                  {tell.test}
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`${tell.show}: ${one.name}`}
                  onClick={() => onShow(one.name)}
                >
                  {tell.show}
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`${say.edit}: ${one.name}`}
                  onClick={() => onEdit(one)}
                >
                  {say.edit}
                </Button>
                <Button
                  kind="quiet"
                  aria-label={`${say.remove}: ${one.name}`}
                  onClick={() => void send('DELETE', at(one.name))}
                >
                  {say.remove}
                </Button>
              </span>
            ),
          },
        ]}
      />
    </>
  )
}

function Tested({ of: { name, ok, ms, error, answer } }: { of: PluginTested & { name: string } }) {
  const tell = useWords(own)
  return (
    <p role="status">
      {ok ? tell.tested(name, ms) : tell.testFailed(name, ms, error ?? '')}{' '}
      {ok && <code>{visible(JSON.stringify(answer))}</code>}
    </p>
  )
}

type EditorProps = {
  plugin: Partial<PluginRow>
  onSaved: (saved: PluginSaved) => void
  onClose: () => void
}

function Editor({ plugin, onSaved, onClose }: EditorProps) {
  const say = useWords(words)
  const tell = useWords(own)
  const { send, error, isBusy } = useChange(path)
  const [mode, setMode] = useState<PluginRow['mode']>(plugin.mode ?? 'fail_open')
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    const textOf = (field: string) => String(given.get(field) ?? '').trim()
    const saved = await send<PluginSaved>('PUT', at(plugin.name ?? textOf('name')), {
      url: textOf('url'),
      hooks: hooks.filter(hook => given.has(hook)),
      mode,
      timeout_ms: Number(textOf('timeout_ms')),
      enabled: given.has('enabled'),
      rotate_secret: given.has('rotate_secret'),
    })
    if (!saved) return
    onSaved(saved)
    onClose()
  }
  return (
    <Dialog title={plugin.name ?? tell.add} onClose={onClose}>
      <form className={styles.form} onSubmit={event => void submit(event)}>
        {plugin.name === undefined && <TextField label={say.name} name="name" required />}
        <TextField label={tell.url} name="url" type="url" defaultValue={plugin.url} required />
        <fieldset>
          <legend>{tell.hooks}</legend>
          {hooks.map(hook => (
            <div key={hook}>
              <Checkbox label={hook} name={hook} defaultChecked={plugin.hooks?.includes(hook)} />
            </div>
          ))}
        </fieldset>
        <Select
          label={tell.mode}
          value={mode}
          choices={[
            { value: 'fail_open', text: tell.fail_open },
            { value: 'fail_closed', text: tell.fail_closed },
          ]}
          onChange={setMode}
        />
        <TextField
          label={tell.timeout}
          name="timeout_ms"
          type="number"
          min={100}
          max={3000}
          defaultValue={plugin.timeout_ms ?? 3000}
          required
        />
        <Checkbox label={tell.isOn} name="enabled" defaultChecked={plugin.enabled ?? true} />
        {plugin.name !== undefined && <Checkbox label={tell.rotate} name="rotate_secret" />}
        <FormEnd error={error} isBusy={isBusy} text={say.save} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

function Calls({ name, onClose }: { name: string; onClose: () => void }) {
  const say = useWords(words)
  const tell = useWords(own)
  const calls = useQuery(reading<PluginCall[]>(`${at(name)}/calls`, { limit: 100 }))
  return (
    <Dialog title={tell.callsOf(name)} onClose={onClose}>
      <QueryTable
        of={calls}
        none={<Empty text={tell.noCalls} />}
        caption={tell.callsOf(name)}
        keyOf={one => `${one.at} ${one.hook} ${one.subject} ${one.ms}`}
        columns={[
          { key: 'at', title: say.when, cell: one => <Ago at={one.at} /> },
          { key: 'hook', title: tell.hooks, cell: one => one.hook },
          {
            key: 'outcome',
            title: tell.outcome,
            cell: one => (
              <Badge tone={one.outcome === 'failed' ? 'bad' : 'soft'}>{tell[one.outcome]}</Badge>
            ),
          },
          { key: 'status', title: tell.status, isNumber: true, cell: one => one.status },
          { key: 'ms', title: tell.ms, isNumber: true, cell: one => one.ms },
          {
            key: 'about',
            title: tell.about,
            cell: one => <span className={styles.long}>{visible(one.subject)}</span>,
          },
          {
            key: 'error',
            title: tell.error,
            cell: one => <span className={styles.long}>{visible(one.error ?? '')}</span>,
          },
        ]}
      />
    </Dialog>
  )
}
