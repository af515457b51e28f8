import { isProtected } from '../../auth/oidc-settings.ts'
import { BadSetting, type Reader, type Settings } from '../../platform/settings.ts'

export type HubConfig = {
  /** The address of the hub that models are imported from, without a trailing slash; null: none. */
  hubEndpoint: string | null
}

const endpoint: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '' || value === 'off') return null
  const url = URL.parse(value)
  const isPlain = url?.search === '' && url.hash === '' && url.username === '' && !url.password
  if (!isPlain || !isProtected(url))
    throw new BadSetting(
      `${name}=${value}: off, or an https address such as https://huggingface.co is expected (http on loopback only)`,
    )
  return url.href.replace(/\/$/, '')
}

export const hubSettings: Settings<HubConfig> = {
  hubEndpoint: ['SERVICE_HUB_ENDPOINT', endpoint],
}
