type Cookie = { name: string; value: string; path: string; host: string }

/** The basics of a browser: keeps cookies by host and path, and follows no redirects. */
export type Visitor = {
  get(url: string | URL, headers?: Record<string, string>): Promise<Response>
  /** Sends a form like a page. */
  post(url: string | URL, form: Record<string, string>): Promise<Response>
  cookie(name: string): string | undefined
}

export function newVisitor(): Visitor {
  let jar: Cookie[] = []
  const send = async (url: URL, init: RequestInit) => {
    const cookie = jar
      .filter(({ host, path }) => host === url.hostname && url.pathname.startsWith(path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) },
    })
    for (const line of response.headers.getSetCookie()) {
      const taken = parse(line, url)
      jar = jar.filter(({ name, host, path }) => !isSame(taken, { name, host, path }))
      if (taken.value !== '') jar.push(taken)
    }
    return response
  }
  return {
    get: (url, headers = {}) => send(new URL(url), { headers }),
    post: (url, form) => send(new URL(url), { method: 'POST', body: new URLSearchParams(form) }),
    cookie: name => jar.find(cookie => cookie.name === name)?.value,
  }
}

const isSame = (a: Cookie, b: Omit<Cookie, 'value'>) =>
  a.name === b.name && a.host === b.host && a.path === b.path

function parse(line: string, { hostname: host }: URL): Cookie {
  const [pair = '', ...attributes] = line.split('; ')
  const path = attributes.find(attribute => /^path=/i.test(attribute))?.slice(5) ?? '/'
  const isOver = attributes.some(attribute =>
    /^(max-age=0|expires=thu, 01 jan 1970)/i.test(attribute),
  )
  const at = pair.indexOf('=')
  return { name: pair.slice(0, at), value: isOver ? '' : pair.slice(at + 1), path, host }
}

/** The target of a redirect. */
export function target(response: Response): URL {
  const location = response.headers.get('location')
  if (!location) throw new Error(`expected a redirect, got ${response.status}`)
  return new URL(location, response.url)
}
