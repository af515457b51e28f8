import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Dialog, DialogEnd } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import layout from '../../design/layout.module.css'
import { Failure } from '../../design/notice.tsx'
import { reread } from '../../session/api.ts'
import { request, session } from '../../session/session.ts'
import { useWords } from '../../words/words.ts'
import { pathOf } from './paths.ts'
import { words } from './words.ts'

type Props = { queue_id: string; kind: 'pairwise' | 'rubric' | 'edit'; onClose: () => void }

/** Makes a version of a dataset from the answers, and shows it. */
export function ExportDialog({ queue_id, kind, onClose }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const signedIn = session.get()
  const who = signedIn.state === 'signed-in' ? signedIn.username : ''
  const [dataset, setDataset] = useState(`${who}/${suffixOf[kind]}`)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const send = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const body = { dataset }
      const { ref } = await request<{ ref: string }>('POST', `${pathOf(queue_id)}/export`, { body })
      await reread('/api/annotations', '/api/datasets')
      const [named = '', version = ''] = ref.split('@')
      const [owner = '', name = ''] = named.split('/')
      void navigate({ to: '/datasets/$owner/$name', params: { owner, name }, search: { version } })
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <Dialog title={say.export} onClose={onClose}>
      <form className={layout.form} onSubmit={event => void send(event)}>
        <TextField
          label={say.dataset}
          hint={say.datasetHint}
          required
          pattern="[^\/@]+\/[a-zA-Z0-9][a-zA-Z0-9_.\-]*"
          maxLength={257}
          value={dataset}
          onChange={event => setDataset(event.target.value)}
        />
        <Failure error={error} />
        <DialogEnd onCancel={onClose}>
          <Button kind="main" type="submit" busy={isBusy}>
            {say.make}
          </Button>
        </DialogEnd>
      </form>
    </Dialog>
  )
}

const suffixOf = { pairwise: 'preferences', rubric: 'scores', edit: 'corrections' } as const
