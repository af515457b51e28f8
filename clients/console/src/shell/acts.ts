type Act = {
  method: string
  /** Its first group, if any, is the name of what the act changes. */
  path: RegExp
  name: readonly [en: (what: string) => string, zh: (what: string) => string]
}

/** The requests that need a recent sign-in, by name. */
const acts: readonly Act[] = [
  {
    method: 'POST',
    path: /^\/api\/admin\/users$/,
    name: [() => 'Create a person', () => '创建人员'],
  },
  {
    method: 'PATCH',
    path: /^\/api\/admin\/users\/([^/]+)$/,
    name: [who => `Change ${who}`, who => `更改 ${who}`],
  },
  {
    method: 'POST',
    path: /^\/api\/admin\/keys\/rotate$/,
    name: [() => 'Rotate the signing key', () => '轮换签名密钥'],
  },
  {
    method: 'POST',
    path: /^\/api\/admin\/retention$/,
    name: [() => 'Apply retention', () => '执行保留规则'],
  },
  {
    method: 'PUT',
    path: /^\/api\/admin\/maintenance$/,
    name: [() => 'Switch maintenance', () => '切换维护模式'],
  },
  {
    method: 'DELETE',
    path: /^\/api\/admin\/users\/([^/]+)\/second-factor$/,
    name: [who => `Remove the second factor of ${who}`, who => `移除 ${who} 的两步验证`],
  },
  {
    method: 'DELETE',
    path: /^\/api\/admin\/dead-letters\/([^/]+)$/,
    name: [what => `Drop the record ${what}`, what => `丢弃记录 ${what}`],
  },
  {
    method: 'DELETE',
    path: /^\/api\/admin\/duties\/([^/]+)$/,
    name: [what => `Drop the duty ${what}`, what => `丢弃任务 ${what}`],
  },
  {
    method: 'PUT',
    path: /^\/api\/admin\/plugins\/([^/]+)$/,
    name: [what => `Set the plugin ${what}`, what => `设置插件 ${what}`],
  },
  {
    method: 'DELETE',
    path: /^\/api\/admin\/plugins\/([^/]+)$/,
    name: [what => `Remove the plugin ${what}`, what => `移除插件 ${what}`],
  },
  {
    method: 'POST',
    path: /^\/api\/auth\/passkeys(?:\/options)?$/,
    name: [() => 'Register a passkey', () => '注册通行密钥'],
  },
  {
    method: 'DELETE',
    path: /^\/api\/auth\/passkeys\/[^/]+$/,
    name: [() => 'Remove a passkey', () => '移除通行密钥'],
  },
  {
    method: 'POST',
    path: /^\/api\/auth\/totp$/,
    name: [() => 'Set up an authenticator', () => '设置身份验证器'],
  },
  {
    method: 'POST',
    path: /^\/api\/auth\/totp\/remove$/,
    name: [() => 'Remove the authenticator', () => '移除身份验证器'],
  },
  {
    method: 'DELETE',
    path: /^\/api\/auth\/sessions\/[^/]+$/,
    name: [() => 'End a session', () => '结束会话'],
  },
  {
    method: 'PUT',
    path: /^\/api\/admin\/image-registries$/,
    name: [() => 'Change the image registries', () => '更改镜像仓库'],
  },
  {
    method: 'POST',
    path: /^\/api\/admin\/recipes$/,
    name: [() => 'Add a recipe', () => '添加配方'],
  },
  {
    method: 'POST',
    path: /^\/api\/cli\/device\/([^/]+)\/approve$/,
    name: [code => `Approve the program ${code}`, code => `批准程序 ${code}`],
  },
]

/** In English and Chinese; null for a request without a name. */
export function nameOfAct(method: string, path: string): readonly [en: string, zh: string] | null {
  for (const act of acts) {
    const found = act.method === method ? act.path.exec(path) : null
    if (!found) continue
    const what = decodeURIComponent(found[1] ?? '')
    return [act.name[0](what), act.name[1](what)]
  }
  return null
}
