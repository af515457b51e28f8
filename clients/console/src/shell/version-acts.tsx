import type { ReactNode } from 'react'
import { Ask } from '../design/ask.tsx'
import { Dialog } from '../design/dialog.tsx'
import { TextField } from '../design/field.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { Shown } from '../design/notice.tsx'
import { addressOf, reread } from '../session/api.ts'
import { ApiFailure } from '../session/failure.ts'
import { request } from '../session/session.ts'
import { useAct } from '../session/use-act.ts'
import { useDeletion } from '../session/use-deletion.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './version-acts.module.css'

const words = wordsOf({
  deprecate: ['Deprecate', '弃用'],
  deprecateOf: [(ref: string) => `Deprecate ${ref}`, (ref: string) => `弃用 ${ref}`],
  deprecateMeans: [
    'Jobs may still use it, and get a warning with the reason.',
    '作业仍可使用它，但会收到包含原因的警告。',
  ],
  reason: ['Reason', '原因'],
  delete: ['Delete', '删除'],
  deleteAnyway: ['Delete anyway', '仍然删除'],
  deleteOf: [(ref: string) => `Delete ${ref}`, (ref: string) => `删除 ${ref}`],
  checking: ['Checking what uses it …', '正在检查使用情况…'],
  permanent: [
    'It is deleted permanently, and its number is not used again.',
    '将被永久删除，其编号不再使用。',
  ],
  unused: ['No run or version that you may read names it.', '没有您可以查看的运行或版本引用它。'],
  breaks: ['These can no longer be reproduced:', '以下内容将无法再次重现：'],
})

/** A version of a dataset or an environment: how jobs name it, and its address in the API. */
type Version = { ref: string; path: string; onClose: () => void }

type DeleteProps<T extends string> = Version & {
  /** The code of the server's refusal while something names it. */
  inUse: string
  link: (user: { type: T; id: string }) => ReactNode
  /** Leaves the page of the version. */
  onDeleted: () => Promise<unknown>
}

/** Lists first what the deletion would break. It is forced only after that list, or the server's refusal, was shown. */
export function DeleteVersion<T extends string>(props: DeleteProps<T>) {
  const { ref, path, inUse, link, onDeleted, onClose } = props
  const say = useWords(words)
  const { act, error, isBusy } = useAct()
  const outcome = useDeletion<{ would_break: { type: T; id: string }[] }>(path)
  const broken = outcome.data?.would_break ?? []
  const wasRefused = error instanceof ApiFailure && error.code === inUse
  const force = broken.length > 0 || wasRefused
  const remove = () =>
    act(async () => {
      await request('DELETE', addressOf(path, { force: force || undefined }))
      onClose()
      await onDeleted()
    })
  return (
    <Ask
      title={say.deleteOf(ref)}
      text={force ? say.deleteAnyway : say.delete}
      isDangerous
      busy={isBusy}
      unless={outcome.data === undefined && say.checking}
      error={error}
      onYes={() => void remove()}
      onClose={onClose}
    >
      <p>{say.permanent}</p>
      <Shown of={outcome}>
        {() =>
          broken.length === 0 ? (
            <p>{say.unused}</p>
          ) : (
            <>
              <p>{say.breaks}</p>
              <ul className={styles.users}>
                {broken.map(one => (
                  <li key={one.type + one.id}>{link(one)}</li>
                ))}
              </ul>
            </>
          )
        }
      </Shown>
    </Ask>
  )
}

/** `lists`: addresses to be read again. */
export function DeprecateVersion({
  ref,
  path,
  lists,
  onClose,
}: Version & { lists: readonly string[] }) {
  const say = useWords(words)
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const body = { reason: String(given.get('reason')).trim() }
    await request('POST', `${path}/deprecate`, { body })
    await reread(...lists)
    onClose()
  })
  return (
    <Dialog title={say.deprecateOf(ref)} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <p>{say.deprecateMeans}</p>
        <TextField label={say.reason} name="reason" required maxLength={1000} autoFocus />
        <FormEnd error={error} isBusy={isBusy} text={say.deprecate} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
