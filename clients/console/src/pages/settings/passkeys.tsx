import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { Static } from 'typebox'
import type { passkey } from '../../../../../schemas/passkeys.ts'
import { Button } from '../../design/button.tsx'
import { Failure } from '../../design/notice.tsx'
import { Panel } from '../../design/panel.tsx'
import { QueryTable } from '../../design/query-table.tsx'
import { Ago } from '../../design/time.tsx'
import { reading, reread } from '../../session/api.ts'
import { request } from '../../session/session.ts'
import { worksHere } from '../../shell/passkey-button.tsx'
import { RegisterPasskey } from '../../shell/register-passkey.tsx'
import { useWaysToSignIn } from '../../shell/sign-in-ways.ts'
import { visible } from '../../words/visible.ts'
import { useWords, wordsOf } from '../../words/words.ts'

const words = wordsOf({
  title: ['Passkeys', '通行密钥'],
  none: [
    'A passkey of your device signs you in, without your password or as your second factor after it.',
    '使用设备上的通行密钥登录：无需密码，或在密码之后作为第二步验证。',
  ],
  noBrowser: [
    'Neither this page nor this browser has passkeys: they need https and the address of the installation.',
    '此页面或浏览器不支持通行密钥：需要 https 及本安装的正式地址。',
  ],
  name: ['Name', '名称'],
  registered: ['Registered', '注册于'],
  used: ['Last used', '上次使用'],
  remove: ['Remove', '移除'],
  removeOne: [(name: string) => `Remove ${name}`, (name: string) => `移除 ${name}`],
})

const path = '/api/auth/passkeys'

/** The passkeys of the person who is signed in. */
export function Passkeys() {
  const say = useWords(words)
  const ways = useWaysToSignIn().data
  const known = useQuery(reading<Static<typeof passkey>[]>(path))
  const [error, setError] = useState<unknown>(null)
  const remove = (id: string) =>
    request('DELETE', `${path}/${encodeURIComponent(id)}`)
      .then(() => reread('/api/auth/'))
      .catch(setError)
  return (
    <Panel title={say.title}>
      <Failure error={error} />
      <QueryTable
        of={known}
        none={<p>{worksHere(ways) ? say.none : say.noBrowser}</p>}
        caption={say.title}
        keyOf={one => one.passkey_id}
        columns={[
          { key: 'name', title: say.name, cell: one => visible(one.name) },
          { key: 'registered', title: say.registered, cell: one => <Ago at={one.created_at} /> },
          {
            key: 'used',
            title: say.used,
            cell: one => one.last_used_at && <Ago at={one.last_used_at} />,
          },
          {
            key: 'remove',
            title: '',
            cell: one => (
              <Button
                kind="quiet"
                aria-label={say.removeOne(visible(one.name))}
                onClick={() => void remove(one.passkey_id)}
              >
                {say.remove}
              </Button>
            ),
          },
        ]}
      />
      <RegisterPasskey />
    </Panel>
  )
}
