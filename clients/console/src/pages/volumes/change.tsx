import type { ReactNode } from 'react'
import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import { type Detail, list, pathOf } from './paths.ts'
import { words } from './words.ts'

type Props = { volume: Detail; onClose: () => void }

export function Grow({ volume, onClose }: Props) {
  const say = useWords(words)
  return (
    <Change
      title={say.growOf(volume.name)}
      text={say.grow}
      path={`${pathOf(volume)}/grow`}
      bodyOf={given => ({ size_gb: Number(given.get('size')) })}
      onClose={onClose}
    >
      <TextField
        label={say.size}
        hint={say.sizeHint}
        name="size"
        type="number"
        required
        min={volume.size_gb}
        step={1}
        defaultValue={volume.size_gb}
      />
    </Change>
  )
}

export function Snapshot({ volume, inside, onClose }: Props & { inside: string }) {
  const say = useWords(words)
  const named = { autoComplete: 'off', spellCheck: false }
  return (
    <Change
      title={say.snapshotOf(volume.name)}
      text={say.begin}
      path={`${pathOf(volume)}/snapshots`}
      bodyOf={given => ({
        path: String(given.get('path')).trim(),
        dataset: String(given.get('dataset')).trim(),
      })}
      onClose={onClose}
    >
      <TextField
        label={say.path}
        hint={say.pathHint}
        name="path"
        maxLength={4096}
        defaultValue={inside}
        {...named}
      />
      <TextField
        label={say.dataset}
        name="dataset"
        required
        maxLength={257}
        defaultValue={`${volume.owner}/${volume.name}`}
        {...named}
      />
    </Change>
  )
}

type ChangeProps = {
  title: string
  text: string
  path: string
  bodyOf: (given: FormData) => object
  onClose: () => void
  children: ReactNode
}

function Change({ title, text, path, bodyOf, onClose, children }: ChangeProps) {
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    await request('POST', path, { body: bodyOf(given) })
    await reread(list)
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        {children}
        <FormEnd error={error} isBusy={isBusy} text={text} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
