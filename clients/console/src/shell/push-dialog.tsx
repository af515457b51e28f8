import { useNavigate } from '@tanstack/react-router'
import { Dialog } from '../design/dialog.tsx'
import { Checkbox, TextField } from '../design/field.tsx'
import { FormEnd } from '../design/form-end.tsx'
import { reread } from '../session/api.ts'
import { request } from '../session/session.ts'
import { useSubmit } from '../session/use-submit.ts'
import { useWords, wordsOf } from '../words/words.ts'
import styles from './push-dialog.module.css'

const words = wordsOf({
  title: [
    (what: string) => `Send ${what} to the hub`,
    (what: string) => `将 ${what} 发送到模型中心`,
  ],
  repo: ['Repository', '仓库'],
  hint: [
    'ORG/NAME; created if it is not there. It is sent with your secret HF_TOKEN, and with a model card that names its base model, datasets and metrics.',
    '组织/名称；如不存在则新建。发送时使用您的机密 HF_TOKEN，并附上写明基础模型、数据集与指标的模型卡片。',
  ],
  isPublic: ['A new repository is public', '新建的仓库为公开'],
  send: ['Send', '发送'],
})

type Props = {
  source: { artifact_id: string } | { model: string }
  what: string
  onClose: () => void
}

/** Asks where at the hub an export goes, and shows its progress on the page of the hub. */
export function PushDialog({ source, what, onClose }: Props) {
  const say = useWords(words)
  const navigate = useNavigate()
  const { onSubmit, error, isBusy } = useSubmit(async given => {
    const repo = String(given.get('repo')).trim()
    const isPrivate = given.get('public') === null
    await request('POST', '/api/hub-pushes', { body: { ...source, repo, private: isPrivate } })
    await reread('/api/hub-pushes')
    await navigate({ to: '/hub-imports' })
  })
  return (
    <Dialog title={say.title(what)} onClose={onClose}>
      <form className={styles.form} onSubmit={onSubmit}>
        <TextField
          label={say.repo}
          hint={say.hint}
          name="repo"
          placeholder="acme/math-tutor"
          maxLength={193}
          autoComplete="off"
          spellCheck={false}
          required
          autoFocus
        />
        <Checkbox label={say.isPublic} name="public" />
        <FormEnd error={error} isBusy={isBusy} text={say.send} onCancel={onClose} />
      </form>
    </Dialog>
  )
}
