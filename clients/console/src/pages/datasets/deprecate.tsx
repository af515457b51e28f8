import { Dialog } from '../../design/dialog.tsx'
import { TextField } from '../../design/field.tsx'
import { FormEnd } from '../../design/form-end.tsx'
import layout from '../../design/layout.module.css'
import { reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { useSubmit } from '../../session/use-submit.ts'
import { useWords } from '../../words/words.ts'
import { type Named, pathOf, pathOfVersion, type Version } from './paths.ts'
import { words } from './words.ts'

type Props = { dataset: Named; version: Pick<Version, 'version' | 'ref'>; onClose: () => void }

export function Deprecate({ dataset, version: { version, ref }, onClose }: Props) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const body = { reason: String(given.get('reason')).trim() }
    await request('POST', `${pathOfVersion(dataset, version)}/deprecate`, { body })
    await reread(pathOf(dataset), '/api/datasets')
    onClose()
  })
  return (
    <Dialog title={say.deprecateOf(ref)} onClose={onClose}>
      <form className={layout.form} onSubmit={onSubmit}>
        <p>{say.deprecateMeans}</p>
        <TextField label={say.reason} name="reason" required maxLength={1000} autoFocus />
        <FormEnd error={error} isBusy={isBusy} text={say.deprecate} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
