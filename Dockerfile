# Images are named by their exact version; `npm run pin-images` adds their digests.
# Builds with everything, then leaves behind what only building needs.
FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY tools tools
COPY src src
COPY console console
COPY sdk sdk
COPY LICENSE ./
RUN npm run build && npm run sbom && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-slim
WORKDIR /app
# What is printed here is collected, so the demo's secrets are not.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data DEMO_SECRETS=file
# All of it belongs to root: the service cannot change its own program.
COPY --from=build /app/package.json /app/sbom.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sdk/package.json sdk/
COPY --from=build /app/sdk/dist sdk/dist
COPY bin bin
COPY LICENSE ./
# For the embedded PostgreSQL, which is used only without DATABASE_URL, and for the demo's secrets.
RUN mkdir -m 700 /data && chown 1000:1000 /data
VOLUME /data
# The user `node` of the image, by number, so that whoever demands a user other than root can see it.
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# The program itself, not npm: so SIGTERM reaches it.
CMD ["node", "bin/trilho.js", "serve"]
