import { existsSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundledPackages, bundleOf, packageFolder } from './bundles.ts'

// Loaded before everything else in a thread: an import of a bundled package loads its one file.
const found = bundledPackages.filter(name => existsSync(bundleOf(name)))
const bundles = new Map(found.map(name => [name, pathToFileURL(bundleOf(name)).href]))

if (bundles.size > 0)
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const url = bundles.get(specifier)
      if (url === undefined || !context.conditions.includes('import')) return resolved
      // Another checkout may have another version.
      const own = pathToFileURL(packageFolder(specifier) + sep).href
      return resolved.url.startsWith(own) ? { ...resolved, url } : resolved
    },
  })
