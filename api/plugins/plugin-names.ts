import type { FastifyInstance, FastifyPluginCallback, FastifyPluginOptions } from 'fastify'

const displayName = Symbol.for('fastify.display-name')

/**
 * Fastify looks for the name of each plugin among all modules that Node has loaded, twice: half of the time that the
 * routes take at a start. One that has a name is not looked for, so each that is registered from now on gets one.
 */
export function installPluginNames(app: FastifyInstance): void {
  const { register } = app
  Object.defineProperty(app, 'register', {
    value(this: FastifyInstance, plugin: FastifyPluginCallback, options?: FastifyPluginOptions) {
      if (!(displayName in plugin))
        Object.defineProperty(plugin, displayName, { value: plugin.name || 'a plugin without a name' })
      const registered: unknown = Reflect.apply(register, this, [plugin, options])
      return registered
    },
  })
}
