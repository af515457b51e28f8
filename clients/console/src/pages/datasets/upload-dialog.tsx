import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { DatasetVersionInput } from '../../../../../schemas/datasets/datasets.ts'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogEnd } from '../../design/dialog.tsx'
import { Field, Select, TextField } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { Failure } from '../../design/notice.tsx'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { bytesOf } from '../../words/amounts.ts'
import { visible } from '../../words/visible.ts'
import { useWords } from '../../words/words.ts'
import styles from './page.module.css'
import { type Created, type Named, pathOf } from './paths.ts'
import { sendFile } from './upload.ts'
import { words } from './words.ts'

/** As the server accepts names of files. */
const allowedName = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/

type Sent = { name: string; bytes: number; of: number }
type Visibility = 'private' | 'public'
type Kind = NonNullable<DatasetVersionInput['kind']>

const kinds: readonly Kind[] = ['chat', 'preference', 'prompt', 'text']

/** `name`: the dataset that gets a version; absent: a new one. */
type Props = { owner: string; name?: string; onClose: () => void }

/** Sends files and makes them the next version of a dataset. */
export function UploadDialog({ owner, name: known, onClose }: Props) {
  const say = useWords(words)
  const [kind, setKind] = useState<Kind | 'any'>('any')
  const [visibility, setVisibility] = useState<Visibility>('private')
  const [chosen, setChosen] = useState<readonly File[]>([])
  const refused = chosen.find(file => !allowedName.test(file.name))
  const { onSubmit, isBusy, error, sent, stop } = useUpload(chosen, onClose, given => ({
    named: { owner, name: known ?? String(given.get('name')).trim() },
    body: {
      ...(kind !== 'any' && { kind }),
      ...(known === undefined && {
        ...{ visibility, license: String(given.get('license')).trim() || null },
      }),
    },
  }))
  return (
    <Dialog
      title={known === undefined ? say.upload : say.pushOf(`${owner}/${known}`)}
      {...(!isBusy && { onClose })}
    >
      <form
        className={layout.form}
        onSubmit={event => (refused ? event.preventDefault() : onSubmit(event))}
      >
        <FilesField refused={refused} onChange={setChosen} />
        <Select
          label={say.kind}
          value={kind}
          choices={[
            { value: 'any', text: say.detected },
            ...kinds.map(value => ({ value, text: say[value] })),
          ]}
          onChange={setKind}
        />
        {known === undefined && <OfNew visibility={visibility} onVisibility={setVisibility} />}
        {sent && <Progress of={sent} />}
        <Failure error={error} />
        <DialogEnd onCancel={isBusy ? stop : onClose}>
          <Button type="submit" kind="main" busy={isBusy}>
            {known === undefined ? say.upload : say.push}
          </Button>
        </DialogEnd>
      </form>
    </Dialog>
  )
}

type Asked = { named: Named; body: Omit<DatasetVersionInput, 'files'> }

/** Sends the files, then makes the version and opens it. `stop`, or leaving the page, ends the sending. */
function useUpload(files: readonly File[], onDone: () => void, asked: (given: FormData) => Asked) {
  const navigate = useNavigate()
  const [sent, setSent] = useState<Sent | null>(null)
  const stopping = useRef<AbortController | null>(null)
  useEffect(() => () => stopping.current?.abort(), [])
  const { error, ...form } = useSubmit(async given => {
    const { named, body } = asked(given)
    const stopped = new AbortController()
    stopping.current = stopped
    const { signal } = stopped
    try {
      const uploads = await sendAll(files, signal, setSent)
      const made = await request<Created>('POST', `${pathOf(named)}/versions`, {
        body: { ...body, files: uploads } satisfies DatasetVersionInput,
        signal,
      })
      await reread('/api/datasets')
      onDone()
      await navigate({
        to: '/datasets/$owner/$name',
        params: named,
        search: { version: String(made.version), ...(!made.created && { same: '1' }) },
      })
    } finally {
      setSent(null)
    }
  })
  const wasStopped = stopping.current?.signal.aborted === true
  const stop = () => stopping.current?.abort()
  return { ...form, error: wasStopped ? null : error, sent, stop }
}

type FilesProps = { refused: File | undefined; onChange: (files: readonly File[]) => void }

function FilesField({ refused, onChange }: FilesProps) {
  const say = useWords(words)
  return (
    <Field
      label={say.choose}
      hint={say.chooseHint}
      fault={refused ? say.badName(visible(refused.name)) : null}
    >
      {given => (
        <input
          {...given}
          type="file"
          className={styles.choose}
          multiple
          required
          accept=".jsonl,.csv,.tsv,.parquet"
          onChange={event => onChange([...(event.target.files ?? [])])}
        />
      )}
    </Field>
  )
}

type OfNewProps = { visibility: Visibility; onVisibility: (next: Visibility) => void }

/** The fields of a new dataset only. */
function OfNew({ visibility, onVisibility }: OfNewProps) {
  const say = useWords(words)
  return (
    <>
      <TextField
        label={say.name}
        name="name"
        required
        maxLength={128}
        pattern="[a-zA-Z0-9][a-zA-Z0-9_.\-]*"
      />
      <Select
        label={say.visibility}
        value={visibility}
        choices={(['private', 'public'] as const).map(value => ({ value, text: say[value] }))}
        onChange={onVisibility}
      />
      <TextField label={say.license} name="license" maxLength={200} placeholder="apache-2.0" />
    </>
  )
}

/** One after the other; returns them as a version names them. */
async function sendAll(
  files: readonly File[],
  signal: AbortSignal,
  onSent: (sent: Sent) => void,
): Promise<{ upload_id: string; name: string }[]> {
  const done: { upload_id: string; name: string }[] = []
  for (const file of files) {
    const { name, size: of } = file
    const upload_id = await sendFile(file, { signal, onSent: bytes => onSent({ name, bytes, of }) })
    done.push({ upload_id, name })
  }
  return done
}

function Progress({ of: { name, bytes, of } }: { of: Sent }) {
  const say = useWords(words)
  const text = say.sending(name, bytesOf(bytes), bytesOf(of))
  return (
    <div className={styles.part}>
      <progress className={styles.progress} value={bytes} max={of} aria-label={name} />
      <p className={layout.soft}>{text}</p>
    </div>
  )
}
