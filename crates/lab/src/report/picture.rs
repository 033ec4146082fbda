//! Balls as a picture: lit from above, seen from the front and a little from the side, the nearer before the farther.

use shapes::sphere_tree::Ball;
use shapes::sphere_tree::file::checksum;
use space::DVec3;

/// Shades of a colour.
const SHADES: usize = 48;
/// Colours: neighbours in the list of balls get different ones.
const COLOURS: [[f64; 3]; 5] =
    [[70.0, 130.0, 200.0], [230.0, 150.0, 60.0], [90.0, 170.0, 110.0], [200.0, 100.0, 120.0], [150.0, 120.0, 190.0]];
/// The most pixels along a side.
pub const MAX_SIDE: usize = 4_096;

/// A PNG of the balls, `side` pixels square; they fill it if none is farther from `bounds`' centre than its radius.
pub fn to_png(balls: &[Ball], bounds: Ball, side: usize) -> Vec<u8> {
    let side = side.clamp(16, MAX_SIDE);
    let mut pixels = vec![0_u8; side * side];
    let mut depths = vec![f64::NEG_INFINITY; side * side];
    let (right, up, toward) = view();
    let light = (toward + up * 1.2 + right * 0.5).normalize_or_zero();
    let scale = side as f64 * 0.5 / (bounds.radius * 1.05);
    for (index, ball) in balls.iter().enumerate() {
        let offset = ball.center - bounds.center;
        let center = DVec3::new(offset.dot(right), offset.dot(up), offset.dot(toward)) * scale;
        let radius = ball.radius * scale;
        let middle = side as f64 * 0.5;
        let range = |at: f64| {
            let low = (at - radius).max(0.0) as usize;
            low..((at + radius).max(0.0) as usize + 1).min(side)
        };
        for y in range(middle - center.y) {
            for x in range(middle + center.x) {
                let (dx, dy) = (x as f64 + 0.5 - middle - center.x, middle - y as f64 - 0.5 - center.y);
                let left = radius * radius - dx * dx - dy * dy;
                if left < 0.0 {
                    continue;
                }
                let height = left.sqrt();
                let place = y * side + x;
                if center.z + height <= depths[place] {
                    continue;
                }
                depths[place] = center.z + height;
                let normal = (right * dx + up * dy + toward * height) / radius;
                let bright = 0.25 + 0.75 * normal.dot(light).max(0.0);
                let shade = (bright * (SHADES - 1) as f64) as usize;
                pixels[place] = (1 + (index % COLOURS.len()) * SHADES + shade.min(SHADES - 1)) as u8;
            }
        }
    }
    encode(&pixels, side)
}

/// Right, up and toward the eye.
fn view() -> (DVec3, DVec3, DVec3) {
    let toward = DVec3::new(0.45, 0.35, 1.0).normalize_or_zero();
    let right = DVec3::Y.cross(toward).normalize_or_zero();
    (right, toward.cross(right), toward)
}

/// A PNG with a palette. The pixels are stored as they are: pictures are small, and a compressor is not.
fn encode(pixels: &[u8], side: usize) -> Vec<u8> {
    let mut png = vec![0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n'];
    let mut header = Vec::new();
    header.extend((side as u32).to_be_bytes());
    header.extend((side as u32).to_be_bytes());
    header.extend([8, 3, 0, 0, 0]);
    chunk(&mut png, b"IHDR", &header);
    let mut palette = vec![252, 252, 250];
    for colour in COLOURS {
        for shade in 0..SHADES {
            let bright = shade as f64 / (SHADES - 1) as f64;
            palette.extend(colour.map(|part| (part * bright * 1.2).min(255.0) as u8));
        }
    }
    chunk(&mut png, b"PLTE", &palette);
    let mut rows = Vec::with_capacity((side + 1) * side);
    for row in pixels.chunks(side) {
        rows.push(0);
        rows.extend(row);
    }
    let mut stream = vec![0x78, 0x01];
    let blocks = rows.chunks(0xffff);
    let last = blocks.len() - 1;
    for (index, block) in blocks.enumerate() {
        let length = block.len() as u16;
        stream.push(u8::from(index == last));
        stream.extend(length.to_le_bytes());
        stream.extend((!length).to_le_bytes());
        stream.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for &byte in &rows {
        a = (a + u32::from(byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    stream.extend((b << 16 | a).to_be_bytes());
    chunk(&mut png, b"IDAT", &stream);
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, name: &[u8; 4], contents: &[u8]) {
    png.extend((contents.len() as u32).to_be_bytes());
    let from = png.len();
    png.extend(name);
    png.extend(contents);
    let sum = checksum(&png[from..]);
    png.extend(sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_is_a_disc_in_the_middle() {
        let ball = Ball::new(DVec3::new(3.0, 4.0, 5.0), 2.0);
        let png = to_png(&[ball], ball, 64);
        assert!(png.starts_with(&[0x89, b'P', b'N', b'G']));
        // 8 of signature, 25 of header, 12 + 3 * 241 of palette, 8 of data's head, 2 + 5 of stream's, then rows of 65.
        let first = 8 + 25 + 12 + 3 * (1 + SHADES * COLOURS.len()) + 8 + 2 + 5;
        let pixel = |x: usize, y: usize| png[first + y * 65 + 1 + x];
        assert_eq!(pixel(0, 0), 0, "a corner is empty");
        assert!(pixel(32, 32) > 0, "the middle is not");
        let area = (0..64 * 64).filter(|at| pixel(at % 64, at / 64) > 0).count() as f64;
        let expected = std::f64::consts::PI * (32.0_f64 / 1.05).powi(2);
        assert!((area / expected - 1.0).abs() < 0.03, "{area} pixels, expected about {expected}");
    }
}
