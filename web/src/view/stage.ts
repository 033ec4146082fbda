// Dusk: sky, sun, fog, and the renderer that draws them.

import * as three from 'three';

import { DUSK, tinted } from './palette.ts';

export type Quality = 'low' | 'high';

/** With fewer pixels than this for one of the screen's nothing could be told apart. */
const RATIO_LEAST = 0.5;
/** How many of the pixels across are left with each step. */
const RATIO_STEP = 0.75;

export class Stage {
  readonly scene = new three.Scene();
  readonly camera = new three.PerspectiveCamera(60, 1, 0.1, 400);
  readonly renderer: three.WebGLRenderer;
  private readonly sun = new three.DirectionalLight(DUSK.sun, 2.6);
  private readonly fog = new three.Fog(DUSK.fog, 26, 120);
  private readonly sky: three.Mesh<three.SphereGeometry, three.ShaderMaterial>;

  constructor(readonly canvas: HTMLCanvasElement, readonly quality: Quality) {
    const isHigh = quality === 'high';
    this.renderer = new three.WebGLRenderer({ canvas, antialias: isHigh, powerPreference: 'high-performance' });
    this.renderer.setPixelRatio(isHigh ? Math.min(devicePixelRatio, 2) : 1);
    this.renderer.toneMapping = three.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.1;
    this.renderer.shadowMap.enabled = isHigh;
    this.renderer.shadowMap.type = three.PCFShadowMap;
    this.scene.fog = this.fog;
    this.sky = sky();
    this.scene.add(this.sky, new three.HemisphereLight(0xb4c4f0, 0x9a7a66, 1.9), this.sun, this.sun.target);
    this.sun.castShadow = isHigh;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.bias = -0.0006;
    this.sun.shadow.normalBias = 0.03;
    Object.assign(this.sun.shadow.camera, { left: -30, right: 30, top: 30, bottom: -30, near: 1, far: 140 });
    this.resize();
    addEventListener('resize', () => this.resize());
  }

  /** Tints sky and fog with the colour of a world's sky. */
  tint(sky: string): void {
    const colours = tinted(sky);
    if (colours === null) return;
    this.fog.color.set(colours.fog);
    for (const [name, colour] of Object.entries(colours)) this.sky.material.uniforms[name]!.value.set(colour);
  }

  /** Draws a frame, lit around a place. */
  draw(around: three.Vector3): void {
    // In whole metres: shadows that follow every step would crawl.
    const [x, z] = [Math.round(around.x), Math.round(around.z)];
    this.sun.target.position.set(x, 0, z);
    this.sun.position.set(x - 46, 21, z - 34);
    this.sky.position.copy(this.camera.position);
    this.renderer.render(this.scene, this.camera);
  }

  /** Leaves something out from now on: shadows first, then pixels, as long as there are any to spare. */
  drawLess(): void {
    const ratio = this.renderer.getPixelRatio();
    if (this.sun.castShadow) this.sun.castShadow = false;
    else if (ratio > RATIO_LEAST) this.renderer.setPixelRatio(Math.max(RATIO_STEP * ratio, RATIO_LEAST));
  }

  private resize(): void {
    const [width, height] = [innerWidth, innerHeight];
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.renderer.setSize(width, height, false);
  }
}

function sky(): three.Mesh<three.SphereGeometry, three.ShaderMaterial> {
  const colour = (hex: number) => ({ value: new three.Color(hex) });
  const material = new three.ShaderMaterial({
    side: three.BackSide,
    depthWrite: false,
    uniforms: {
      zenith: colour(DUSK.zenith),
      middle: colour(DUSK.middle),
      horizon: colour(DUSK.horizon),
      fog: colour(DUSK.fog),
      glow: colour(DUSK.sun),
      sun: { value: new three.Vector3(-46, 12, -34).normalize() },
    },
    vertexShader: `
      varying vec3 way;
      void main() {
        way = position;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
      }`,
    fragmentShader: `
      uniform vec3 zenith, middle, horizon, fog, glow, sun;
      varying vec3 way;
      void main() {
        vec3 d = normalize(way);
        float up = clamp(d.y, 0.0, 1.0);
        float west = 0.5 + 0.5 * dot(normalize(d.xz), normalize(sun.xz));
        vec3 low = mix(mix(fog, middle, 0.35), horizon, west * west);
        vec3 colour = mix(mix(low, middle, smoothstep(0.0, 0.28, up)), zenith, smoothstep(0.12, 0.85, up));
        colour = mix(fog, colour, smoothstep(-0.02, 0.06, d.y));
        float near = max(dot(d, sun), 0.0);
        colour += glow * (0.42 * pow(near, 24.0) + 1.4 * smoothstep(0.9991, 0.9995, near));
        // A few stars where it is dark already.
        vec3 cell = floor(d * 160.0);
        float star = fract(sin(dot(cell, vec3(12.9898, 78.233, 37.719))) * 43758.5453);
        colour += vec3(0.7) * step(0.9985, star) * smoothstep(0.45, 0.9, up);
        gl_FragColor = vec4(colour, 1.0);
        #include <tonemapping_fragment>
        #include <colorspace_fragment>
      }`,
  });
  const mesh = new three.Mesh(new three.SphereGeometry(300, 32, 20), material);
  mesh.renderOrder = -1;
  mesh.frustumCulled = false;
  return mesh;
}
